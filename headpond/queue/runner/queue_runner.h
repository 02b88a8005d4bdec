// SPDX-License-Identifier: Apache-2.0
// Producer threads that fill a queue until their data ends, a stop is requested, or one of them fails.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/queue/queue.h"
#include "headpond/queue/runner/coordinator.h"

namespace headpond {

struct QueueRunnerOptions {
  std::vector<ErrorKind> queue_closed_kinds = {ErrorKind::OutOfRange};  ///< Errors that are a normal end; not empty.
  std::function<Result<void>()> close_op = {};  ///< Called after a normal end of all producers; default: queue.close().
  std::function<Result<void>()> cancel_op = {};  ///< Called once after a stop or a failure; default: queue.close(true).
};

/// Each function has a thread, which calls it again and again until it returns an error, throws, or a stop is
/// requested. How a start ends:
/// - An error of queue_closed_kinds, or a queue that its consumer closed, is a producer's normal end. The last producer
///   to end normally runs close_op.
/// - Any other error is a failure: the coordinator is stopped with it, so cancel_op runs as below, then the queue is
///   closed with cancel. Consumers get the elements that are inside, then OutOfRange with this error as its cause.
///   A coordinator whose join() has finished refuses the stop; then cancel_op runs all the same, but the other
///   producers end only when they find the queue closed.
/// - After a requested stop, cancel_op runs exactly once, so that waiting enqueues end. The stop's callback runs it; if
///   all producers have ended before the callback starts, the last of them runs it instead. It has run when the
///   coordinator's join() returns. If the stop was requested with an error, that is also the cause of the consumers'
///   OutOfRange.
///
/// So of close_op and cancel_op exactly one runs; what they return is ignored. Consumers do not wait for producers that
/// have ended, unless a close_op or cancel_op of the user's own leaves the queue open: then a dequeue waits for
/// QueueOptions::watchdog (60 s) and fails with FailedPrecondition; without a watchdog it waits for ever. A runner, and
/// each of its threads, holds the queue as a handle does: a program that drops all other handles must stop the
/// coordinator. Threads are named QueueRunnerThread-<queue>-<i>.
class QueueRunner {
 public:
  using Producer = std::function<Result<void>(std::stop_token)>;

  /// Throws Exception(InvalidArgument) if there is no producer, a function is empty, or queue_closed_kinds is empty.
  QueueRunner(Queue queue, std::vector<Producer> producers, QueueRunnerOptions options = {});

  /// Starts the threads, which belong to `coordinator`; this runner and handles of the queue may be destroyed before
  /// the threads end. Returns false, and does nothing, while threads of an earlier start run. If the system refuses a
  /// thread, it throws Exception after it has stopped the coordinator and closed the queue, as after a failed producer.
  /// Thread-safe.
  bool start(Coordinator& coordinator);
  /// True iff no start has anything of this runner any more: its coordinator has joined the threads, or there was none.
  /// While start() runs either answer is right.
  bool is_idle() const { return run_.use_count() == 1; }

 private:
  struct Run;
  std::shared_ptr<Run> run_;
};

}  // namespace headpond

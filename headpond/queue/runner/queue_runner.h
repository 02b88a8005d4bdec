// SPDX-License-Identifier: Apache-2.0
// Producer threads that fill a queue until their data ends, somebody stops, or one of them fails.
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
  std::vector<ErrorKind> queue_closed_kinds = {ErrorKind::OutOfRange};  ///< A producer's normal end; not empty.
  std::function<Result<void>()> close_op = {};   ///< When the last producer ended normally; default queue.close().
  std::function<Result<void>()> cancel_op = {};  ///< Once, when a stop is requested; default queue.close(true).
};

/// One thread for each function, which it calls again and again until the function returns an error, throws, or a stop
/// is requested. The thread's end:
/// - an error of queue_closed_kinds, or the queue was closed by its consumer: normal; the last producer runs close_op;
/// - any other error: the coordinator is stopped with it and the queue closed with cancel; consumers get the elements
///   that are in, then OutOfRange with this error as its cause;
/// - a requested stop: cancel_op runs once, so that waiting enqueues end: on the thread that requested the stop, or on
///   the last producer's thread if that ends first. After a join() of the coordinator it has run.
///
/// What close_op and cancel_op return is ignored. One start runs close_op, or cancel_op if it is stopped, never both.
/// So a consumer never waits for producers that are gone; if a close_op or cancel_op of the user's own leaves the queue
/// open, its watchdog ends the wait. A runner, and each of its threads until it ends, holds the
/// queue as a handle does: whoever drops all other handles must stop the coordinator. Threads are named
/// QueueRunnerThread-<queue>-<i>.
class QueueRunner {
 public:
  using Producer = std::function<Result<void>(std::stop_token)>;

  /// Throws Exception(InvalidArgument) for no producers, an empty function, or empty queue_closed_kinds.
  QueueRunner(Queue queue, std::vector<Producer> producers, QueueRunnerOptions options = {});

  /// Starts the threads, which belong to `coordinator`; this runner and handles of the queue may be gone before they
  /// end. Does nothing while threads of an earlier start run. Where the system refuses a thread it throws Exception,
  /// with the coordinator stopped and the queue closed as after a failed producer. Thread-safe.
  void start(Coordinator& coordinator);

 private:
  struct Run;
  std::shared_ptr<Run> run_;
};

}  // namespace headpond

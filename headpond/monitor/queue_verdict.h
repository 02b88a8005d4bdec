// SPDX-License-Identifier: Apache-2.0
// Why the consumer of a queue waits: the verdict of Loader::diagnose(), for a queue and its producers.
//
//   const QueueMonitor::Handle watched = monitor.watch(queue_source(queue));
//   ... the consumer calls account.measure([&] { return queue.dequeue_many(32); }) ...
//   std::cout << diagnose(queue, watched.summary(), account.summary(), {.batch = 32, .producers = 4});
#pragma once

#include <cstdint>

#include "headpond/engine/verdict/verdict.h"
#include "headpond/monitor/queue_monitor.h"
#include "headpond/monitor/wait_account.h"
#include "headpond/queue/queue.h"

namespace headpond {

/// How a queue is used.
struct QueueUse {
  int64_t batch = 1;      ///< Elements that a dequeue takes.
  int64_t producers = 1;  ///< Threads that enqueue.
  int64_t memory = -1;    ///< Bytes that it may hold, as QueueOptions::memory_limit; below 0: usable_memory().
};

/// `summary`: of the queue while the consumer of `waits` took from it. The codes are none, device_bound, startup,
/// min_fill_too_large, window_too_small and serial_stage (one producer, which is slower than the consumer). A second
/// form takes what Queue::stats() returned.
Verdict diagnose(const Queue& queue, const QueueSummary& summary, const WaitSummary& waits, const QueueUse& use);
Verdict diagnose(const QueueStats& stats, const QueueSummary& summary, const WaitSummary& waits, const QueueUse& use);

}  // namespace headpond

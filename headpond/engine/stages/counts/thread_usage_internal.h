// SPDX-License-Identifier: Apache-2.0
// What a task that is measured took of its thread.
#pragma once

#include <cstdint>

#include "headpond/engine/stages/counts/stage_counters_internal.h"

namespace headpond::internal {

/// What the calling thread has used since it began.
struct ThreadUsage {
  int64_t cpu_ns = 0;
  int64_t waits = 0;         ///< How often it gave the processor up by itself,
  int64_t preempted = 0;     ///< and how often it was taken away.
  int64_t lock_wait_ns = 0;  ///< lock_wait_ns_by_thread.
  int64_t interpreter_wait_ns = 0;
  static ThreadUsage now();
};

/// Whether a task that took `elapsed_ns` between the two mostly waited for something other than the processor and locks
/// of functions.
bool has_waited(const ThreadUsage& before, const ThreadUsage& after, int64_t elapsed_ns);

/// What it took, but for TaskUse::queue_ns, which is not asked.
TaskUse use_of(const ThreadUsage& before, const ThreadUsage& after, int64_t elapsed_ns);

/// A function that computes loses its lock to others that want it only after a while: 5 ms in Python.
constexpr int64_t kMayLoseLockNs = 10'000'000;

/// Whether a task that seems to have waited computed instead, but had no more than its share of a lock that `threads`
/// hold in turn. The waits in which it got the lock back are not in `lock_wait_ns`, and look like any other.
bool may_share_lock(const TaskUse& use, int64_t elapsed_ns, int64_t lock_wait_ns, int threads);

}  // namespace headpond::internal

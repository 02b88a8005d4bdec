// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <algorithm>

#include "headpond/engine/executor/lock_wait.h"
#include "headpond/engine/executor/watch/thread_look_internal.h"
#include "headpond/engine/stages/counts/thread_usage_internal.h"

namespace headpond::internal {

ThreadUsage ThreadUsage::now() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return {thread_cpu_ns(), usage.ru_nvcsw, usage.ru_nivcsw, lock_wait_ns_by_thread, interpreter_wait_ns_by_thread};
}

// On a busy machine a task that computes is off the processor most of the time too, but then others took it away.
bool has_waited(const ThreadUsage& before, const ThreadUsage& after, int64_t elapsed_ns) {
  const int64_t rest_ns = elapsed_ns - (after.lock_wait_ns - before.lock_wait_ns);
  return after.waits - before.waits > after.preempted - before.preempted && after.cpu_ns - before.cpu_ns < rest_ns / 2;
}

// Time off the processor is blocked if the task gave it up by itself, else it waited for its turn.
TaskUse use_of(const ThreadUsage& before, const ThreadUsage& after, int64_t elapsed_ns) {
  const auto cpu = static_cast<double>(after.cpu_ns - before.cpu_ns);
  const auto gave_up = static_cast<double>(after.waits - before.waits);
  const double switches = gave_up + static_cast<double>(after.preempted - before.preempted);
  const double off = std::max(static_cast<double>(elapsed_ns) - cpu, 0.0);
  return {.cpu_ns = cpu,
          .blocked_ns = switches > 0 ? off * gave_up / switches : 0,
          .lock_ns = static_cast<double>(after.interpreter_wait_ns - before.interpreter_wait_ns)};
}

bool may_share_lock(const TaskUse& use, int64_t elapsed_ns, int64_t lock_wait_ns, int threads) {
  constexpr double kMostOfItsShare = 0.8;
  const double computed_ns = use.cpu_ns + std::max(use.queue_ns, 0.0);
  return elapsed_ns - lock_wait_ns > kMayLoseLockNs &&
         computed_ns * threads > kMostOfItsShare * static_cast<double>(elapsed_ns);
}

}  // namespace headpond::internal

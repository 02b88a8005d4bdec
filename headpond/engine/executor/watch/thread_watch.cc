// SPDX-License-Identifier: Apache-2.0
#include <new>
#include <utility>

#include "headpond/base/thread.h"
#include "headpond/engine/executor/watch/thread_watch_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kBetweenClockLooksNs = 200'000'000;
constexpr size_t kMostLookedAt = 16;
constexpr int64_t kEnoughSeen = 16;
constexpr size_t kMostOperators = 1024;  // Functions make others, any number of them.

}  // namespace

// The process's clock comes after the threads': see process_cpu_ns().
ThreadWatch::Clocks ThreadWatch::clocks() const {
  Clocks clocks{.own_ns = thread_cpu_ns()};
  for (const WatchedThread* thread : threads_) clocks.own_ns += thread->id != 0 ? cpu_ns_of(thread->id) : 0;
  clocks.process_ns = process_cpu_ns();
  clocks.at_ns = now_ns();
  return clocks;
}

ThreadWatch::Clocks ThreadWatch::wait_clocks() const {
  Clocks clocks = this->clocks();
  clocks.system_ns = process_system_ns();
  return clocks;
}

void ThreadWatch::add_wait(const Clocks& before) {
  const Clocks after = wait_clocks();
  seen_.ns += static_cast<double>(after.at_ns - before.at_ns);
  seen_.process_cpu_ns += static_cast<double>(after.process_ns - before.process_ns);
  seen_.process_system_ns += static_cast<double>(after.system_ns - before.system_ns);
  seen_.own_cpu_ns += static_cast<double>(after.own_ns - before.own_ns);
}

std::optional<double> ThreadWatch::look_at_others(int64_t now) {
  if (now < last_.at_ns + kBetweenClockLooksNs) return std::nullopt;
  const Clocks after = clocks(), before = std::exchange(last_, after);
  const int thread = this_thread_id();
  if (std::exchange(last_thread_, thread) != thread) return std::nullopt;  // Each thread has a clock of its own.
  const int64_t others_ns = (after.process_ns - before.process_ns) - (after.own_ns - before.own_ns);
  return static_cast<double>(others_ns) / static_cast<double>(after.at_ns - before.at_ns);
}

bool ThreadWatch::are_often_locked(const char* stage) const {
  const auto found = seen_.doing.find(stage);
  return found != seen_.doing.end() && found->second.all() >= kEnoughSeen &&
         3 * found->second.locked > found->second.all();
}

void ThreadWatch::look_at_threads() try {
  struct Look {
    const WatchedThread* thread;
    const char* stage;
    int id;
    const void* in_operator = nullptr;  // Null: in none, or not all the time.
    Doing doing = Doing::unknown;
  };
  std::vector<Look> looks;
  for (const WatchedThread* thread : threads_) {
    const bool works = thread->doing != nullptr && thread->id != 0;
    if (works && looks.size() < kMostLookedAt) looks.push_back({thread, thread->doing, thread->id});
  }
  {
    const Unlocked unlocked(lock_);
    for (Look& look : looks) {
      const void* const before = look.thread->in_operator.load(std::memory_order_relaxed);
      look.doing = doing_of(look.id);
      const bool stayed = look.thread->in_operator.load(std::memory_order_relaxed) == before;
      look.in_operator = stayed ? before : nullptr;
    }
  }
  for (const Look& look : looks) {
    seen_.doing[look.stage].add(look.doing);
    const bool has_room = seen_.operators.size() < kMostOperators || seen_.operators.contains(look.in_operator);
    if (look.in_operator != nullptr && has_room) seen_.operators[look.in_operator].add(look.doing);
  }
} catch (const std::bad_alloc&) {  // It is not seen then.
}

}  // namespace headpond::internal

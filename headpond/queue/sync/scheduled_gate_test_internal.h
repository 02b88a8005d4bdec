// SPDX-License-Identifier: Apache-2.0
// The gate compiled once more, for one test, with a Scheduler in place of the system. Its locks have owners soon.
#pragma once

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <new>
#include <stop_token>
#include <string_view>

#include "headpond/base/clock.h"
#include "headpond/queue/sync/scheduled_atomic_test_internal.h"
#include "headpond/queue/sync/scheduled_stop_test_internal.h"

namespace headpond {
class BiasedLock;
}

namespace headpond::internal {

/// OwnerCell::inside. With the mistake `shared_mark` it is as it once was: whether the owner is inside a lock is a mark
/// of the lock, so a thread that was the owner before can clear the mark of the present one.
template <>
class ScheduledAtomic<const BiasedLock*> {
 public:
  constexpr ScheduledAtomic() = default;
  constexpr ScheduledAtomic(const BiasedLock* value) : value_(value) {}

  const BiasedLock* load(std::memory_order order) const {
    if (!Scheduler::shares_marks()) return static_cast<const BiasedLock*>(value_.load(order));
    return named_ != nullptr && marks()[named_].load(order) ? named_ : nullptr;
  }
  void store(const BiasedLock* lock, std::memory_order order) {
    if (!Scheduler::shares_marks()) return value_.store(lock, order);
    if (lock != nullptr) named_ = lock;
    marks()[named_].store(lock != nullptr, order);
  }
  static std::map<const BiasedLock*, ScheduledAtomic<bool>>& marks() {
    static std::map<const BiasedLock*, ScheduledAtomic<bool>> all;
    return all;
  }

 private:
  ScheduledAtomic<const void*> value_ = nullptr;
  const BiasedLock* named_ = nullptr;
};

}  // namespace headpond::internal

// Whatever else the code under test includes is included before these names mean something else.
namespace std {  // Where the code under test looks for atomics.
using headpond::internal::ScheduledAtomic;
using headpond::internal::ScheduledStopCallback;
using headpond::internal::ScheduledStopSource;
using headpond::internal::ScheduledStopToken;
}  // namespace std
#undef HEADPOND_INJECT  // Hand-over points are everywhere already.
#if !defined(NDEBUG)
#define NDEBUG  // The test checks that nobody is inside beside another, and goes on if it finds that.
#endif
#define atomic ScheduledAtomic
#define stop_callback ScheduledStopCallback
#define stop_source ScheduledStopSource
#define stop_token ScheduledStopToken
#define Mutex ScheduledMutex
#define MutexLock ScheduledMutexLock
#define now_ns internal::Scheduler::now
#define sched_yield internal::Scheduler::pause
#define __builtin_ia32_pause internal::Scheduler::pause
#define syscall internal::system_call
#define sched_getaffinity internal::cpus_of
#define sched_getcpu() 0
namespace headpond {
using internal::ScheduledMutex;
using internal::ScheduledMutexLock;
}  // namespace headpond
#include "headpond/queue/sync/signal.cc"

namespace headpond {
namespace {
/// What became of the owners of locks.
struct Ownings {
  int64_t came = 0;       ///< To enter as owners,
  int64_t were_none = 0;  ///< which they were no more.
  int64_t revoked = 0;
};
Ownings ownings;
/// Of locks that are made from now on. No thread comes often in a schedule.
uint32_t row_for_owner = 1;
}  // namespace

// Fences that know whose they are.
namespace asymmetric_fence {
namespace {
void light_of(std::string_view function) {
  ownings.came += function == "enter_as_owner" ? 1 : 0;
  ownings.were_none += function == "step_back" ? 1 : 0;
  light();
}
void heavy_of(std::string_view function) {
  ownings.revoked += function == "revoke" ? 1 : 0;
  if (internal::Scheduler::has_fence(function)) heavy();
}
}  // namespace
}  // namespace asymmetric_fence
}  // namespace headpond
#define HEADPOND_ROW_FOR_OWNER row_for_owner
#define HEADPOND_CALM_AFTER 1
#define light() light_of(__func__)
#define heavy() heavy_of(__func__)
#include "headpond/queue/sync/biased_lock.cc"
#include "headpond/queue/sync/gate.cc"
#include "headpond/queue/sync/gate_test_internal.h"
#include "headpond/queue/sync/owner_cell.cc"

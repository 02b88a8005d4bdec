// SPDX-License-Identifier: Apache-2.0
// The gate compiled once more, for one test, with a Scheduler in place of the system; its turns have favourites soon.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <stop_token>
#include <string_view>

#include "headpond/base/clock.h"
#include "headpond/queue/sync/scheduled_atomic_test_internal.h"

// What the code under test includes besides is included before its names mean something else.
namespace std {  // Where the code under test looks for atomics.
using headpond::internal::ScheduledAtomic;
}
#undef HEADPOND_INJECT  // Hand-over points are everywhere already.
#define atomic ScheduledAtomic
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
/// What became of the favourites of turns.
struct Favours {
  int64_t came = 0;       ///< To enter as favourites,
  int64_t were_none = 0;  ///< which they were no more.
  int64_t dismissed = 0;  ///< Each was made before.
};
Favours favours;
}  // namespace

// Fences that know whose they are.
namespace asymmetric_fence {
namespace {
void light_of(std::string_view function) {
  favours.came += function == "enter_as_favourite" ? 1 : 0;
  favours.were_none += function == "step_back" ? 1 : 0;
  light();
}
void heavy_of(std::string_view function) {
  favours.dismissed += function == "claim" ? 1 : 0;
  if (internal::Scheduler::has_fence(function)) heavy();
}
}  // namespace
}  // namespace asymmetric_fence
}  // namespace headpond
#define HEADPOND_ROW_FOR_FAVOUR 1  // Nobody comes often in a schedule.
#define light() light_of(__func__)
#define heavy() heavy_of(__func__)
#include "headpond/queue/sync/gate.cc"
#include "headpond/queue/sync/gate_test_internal.h"
#include "headpond/queue/sync/turn.cc"

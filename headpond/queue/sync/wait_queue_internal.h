// SPDX-License-Identifier: Apache-2.0
// The lock of a store off the fast path, and the calls that wait at it: puts in one queue, takes in another. A call
// that waits leaves its attempt here. A thread that changes the store repeats the attempts in order of arrival, so no
// call overtakes another by being woken sooner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/base/status.h"
#include "headpond/queue/sync/biased_lock_internal.h"
#include "headpond/queue/wait.h"

namespace headpond::internal {

enum class CallKind : uint8_t { put, take };

/// Thread-safe. REQUIRES: outlives every call of run().
class WaitQueue {
 public:
  /// Returns whether the call is done, well or with an error; false leaves the store as it is. Runs under `mu`, on any
  /// thread. `is_first`: no call of its kind has waited longer. An attempt that must not overtake returns false
  /// otherwise. What it throws is thrown by run(), and its call is done.
  using Attempt = std::function<bool(bool is_first)>;

  Mutex mu;

  /// Makes `attempt` until it is done (go), the token was stopped before or meanwhile, the time is up, or cancel() was
  /// called. A timeout of 0 makes one attempt.
  WaitResult run(CallKind kind, const Wait& wait, const Attempt& attempt) HEADPOND_EXCLUDES(mu);
  /// Makes the attempts of the waiters until none of them gets done. To be called after every other change.
  void serve() HEADPOND_REQUIRES(mu);
  /// Ends all waits, and those to come.
  void cancel() HEADPOND_EXCLUDES(mu);
  /// Calls that wait.
  int64_t waiting(CallKind kind) HEADPOND_EXCLUDES(mu);

 private:
  struct Waiter;
  using Waiters = std::vector<Waiter*>;
  Waiters& waiters(CallKind kind) HEADPOND_REQUIRES(mu) { return kind == CallKind::put ? puts_ : takes_; }
  bool serve(Waiters& waiters) HEADPOND_REQUIRES(mu);
  void sleep(Waiter& self, const Wait& wait) HEADPOND_REQUIRES(mu);
  void leave(Waiter& waiter, WaitResult why) HEADPOND_REQUIRES(mu);

  Waiters puts_ HEADPOND_GUARDED_BY(mu);
  Waiters takes_ HEADPOND_GUARDED_BY(mu);
  bool cancelled_ HEADPOND_GUARDED_BY(mu) = false;
};

/// The error of a call that ended with `result`, which is not go: "<operation> operation timed out after 5 ms:
/// <state>".
Error wait_error(std::string_view operation, WaitResult result, const Wait& wait, const std::string& state);

}  // namespace headpond::internal

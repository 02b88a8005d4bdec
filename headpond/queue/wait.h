// SPDX-License-Identifier: Apache-2.0
// How long a call may wait, and what else ends the wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

#include "headpond/base/clock.h"

namespace headpond {

inline constexpr int64_t kUnbounded = -1;  ///< For a capacity or a memory limit: there is none.

struct Wait {
  /// The longest wait; then the call returns DeadlineExceeded. 0 or less: it does not wait for room or elements, but
  /// sees the effects of all calls that have returned. For that it may wait for calls that run right now, about 20 ms
  /// at most. It waits longer in one case: a dequeue of a closed queue waits until the dequeue that took its last
  /// elements has returned.
  std::chrono::nanoseconds timeout = kForever;
  std::stop_token stop = {};  ///< Ends the call as Cancelled.
};

}  // namespace headpond

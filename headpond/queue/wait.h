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
  /// The longest wait; then the call returns DeadlineExceeded. 0 or less: it sees the effects of all completed calls,
  /// and waits for calls that run right now only, not for room or elements: at most 20 ms, but at the end of a closed
  /// queue's data until the last of these has returned.
  std::chrono::nanoseconds timeout = kForever;
  std::stop_token stop = {};  ///< Ends the call as Cancelled.
};

}  // namespace headpond

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
  /// A call with timeout 0 or less sees the effects of all completed calls. It waits at most 20 ms for calls that are
  /// running. One exception: if the queue is closed and only a running call delays the end of the data, it waits for
  /// that call.
  std::chrono::nanoseconds timeout = kForever;
  std::stop_token stop = {};  ///< Ends the call as Cancelled.
};

}  // namespace headpond

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
  /// A call with timeout 0 or less sees the effects of all completed calls. It gives running ones 20 ms or, if nothing
  /// but a running call stands between it and the end of a closed queue, until that call is done.
  std::chrono::nanoseconds timeout = kForever;
  std::stop_token stop = {};  ///< Ends the call as Cancelled.
};

}  // namespace headpond

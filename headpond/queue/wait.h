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
  std::chrono::nanoseconds timeout = kForever;  ///< 0 or less: sees all completed calls, and gives running ones 20 ms.
  std::stop_token stop = {};                    ///< Ends the call as Cancelled.
};

}  // namespace headpond

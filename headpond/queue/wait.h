// SPDX-License-Identifier: Apache-2.0
// How long a call may wait, and who may end the wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

#include "headpond/base/clock.h"

namespace headpond {

inline constexpr int64_t kUnbounded = -1;  ///< A capacity, or a memory limit, that is none.

struct Wait {
  std::chrono::nanoseconds timeout = kForever;  ///< 0 or less: does not wait, and looks on at others' work for 20 ms.
  std::stop_token stop = {};                    ///< Ends the call with Cancelled.
};

}  // namespace headpond

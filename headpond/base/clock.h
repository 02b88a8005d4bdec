// SPDX-License-Identifier: Apache-2.0
// Time as nanoseconds of the steady clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace headpond {

/// The timeout that means "no limit".
inline constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();

/// Nanoseconds since an arbitrary start, the same for all threads; never decreases.
inline int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The time `timeout` after `start`, as now_ns() counts. Does not overflow; a negative timeout counts as 0.
inline int64_t deadline_ns(int64_t start, std::chrono::nanoseconds timeout) {
  const int64_t length = timeout.count() < 0 ? 0 : timeout.count();
  return length > INT64_MAX - start ? INT64_MAX : start + length;
}

}  // namespace headpond

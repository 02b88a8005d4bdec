// SPDX-License-Identifier: Apache-2.0
// Spans of tasks that take less than ten times what their record would: several of them become one.
#pragma once

#include <cstdint>

#include "headpond/base/trace.h"

namespace headpond::trace::internal {

inline constexpr int64_t kShortTaskNs = 10'000;   ///< Longer ones have a span each.
inline constexpr int64_t kMostBetweenNs = 2'000;  ///< Two of one span.
inline constexpr int64_t kLongestJoinedNs = 100'000;

/// What a span of several tasks says: the first two values of the first one, `last` of the last one, and the sum of all
/// `adds`.
struct Joined {
  const ArgNames* names;
  int64_t last, adds;
};

/// Records `task`, a span of the calling thread that has just ended, whose clocks the caller has read. Short ones with
/// one name and one first value that follow each other, without another span of the thread between them, become one
/// span from the begin of the first to the end of the last; its `value` is their number.
void record_task(const Event& task, const Joined& joined);

/// Another number after each start().
uint64_t session();

}  // namespace headpond::trace::internal

// SPDX-License-Identifier: Apache-2.0
// What a trace has of tasks, of which there are many: those that are short share a span, and operators are shown inside
// of some. Not for users.
#pragma once

#include <atomic>
#include <cstdint>

#include "headpond/base/trace.h"

namespace headpond::trace::internal {

inline constexpr int64_t kShortTaskNs = 20'000;   ///< Longer ones have a span each.
inline constexpr int64_t kMostBetweenNs = 5'000;  ///< Two of one span.
inline constexpr int64_t kLongestJoinedNs = 100'000;

/// What a span of several tasks says: the first two values of the first one, `last` of the last one, and the sum of all
/// `adds`.
struct Joined {
  const void* sender;  ///< Tasks of different senders share no span, whatever their names.
  const ArgNames* names;
  int64_t last, adds;
};

/// Records `task`, a span of the calling thread that has just ended, whose clocks the caller has read. Short ones with
/// one name, sender and first value that follow each other, without another span of the thread between them, become one
/// span from the begin of the first to the end of the last; its `value` is their number.
void record_task(const Event& task, const Joined& joined);

/// trace::flow_begin() and flow_end() at a time that lies within a span.
void record_flow(Kind begin_or_end, uint64_t id, int64_t at_ns);

/// Another number after each start().
uint64_t session();
/// The same while a trace is recorded, else 0. So who remembers it sees by one comparison that something changed.
extern std::atomic<uint64_t> recorded_session;

/// Each task shows its operators while a trace is recorded, not a sample of them alone.
inline std::atomic<bool> probes_every = false;

}  // namespace headpond::trace::internal

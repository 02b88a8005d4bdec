// SPDX-License-Identifier: Apache-2.0
// What a trace has of tasks, of which there are many: those that are short share a span, and operators are shown inside
// of some. Not for users.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "headpond/base/trace.h"

namespace headpond::trace::internal {

inline constexpr int64_t kShortTaskNs = 20'000;   ///< Longer ones have a span each.
inline constexpr int64_t kMostBetweenNs = 5'000;  ///< Two of one span.
inline constexpr int64_t kLongestJoinedNs = 100'000;

/// A task of the calling thread that has just ended, whose clocks the caller has read. Tasks share a span only if their
/// senders, names and groups are equal.
struct EndedTask {
  const void* sender;  ///< Not null.
  const char* name;
  int64_t group;
  int64_t start_ns, end_ns;
  int64_t last;  ///< A shared span shows that of its last task,
  int64_t adds;  ///< and the sum of these.
};
/// Adds `task` to the thread's last span, if that is one of short tasks with the same sender, name and group, and if
/// `task` is short, too, and follows soon. False: nothing was done.
bool lengthen(const EndedTask& task);

/// Records `event`, the span of `task`. If it is short, a later lengthen() may extend it: then it ends with the last
/// task that it has, its `value` is the number of tasks, and it shows under the names `of_several` the first two values
/// of `event`, the last task's `last`, and the sum of `adds`. REQUIRES: `event` has the name and times of `task`,
/// lengthen(task) has just returned false, and `of_several` lives as long as the process.
void record_task(const Event& event, const EndedTask& task, const ArgNames& of_several);

/// Records spans of the calling thread, in the order of their ends, as one call.
void record_spans(std::span<const Event> spans);

/// trace::flow_begin() and flow_end() at a time that lies within a span.
void record_flow(Kind begin_or_end, uint64_t id, int64_t at_ns);

/// Another number after each start().
uint64_t session();
/// The same while a trace is recorded, else 0. So who remembers it sees by one comparison that something changed.
extern std::atomic<uint64_t> recorded_session;

/// Each task shows its operators while a trace is recorded, not a sample of them alone.
inline std::atomic<bool> probes_every = false;

}  // namespace headpond::trace::internal

// SPDX-License-Identifier: Apache-2.0
// Where the time of a pipeline's threads went: by kind of operator, by operator, by stage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/base/json.h"
#include "headpond/base/status.h"
#include "headpond/engine/loader_stats.h"

namespace headpond {

enum class ProfileView : uint8_t {
  op,     ///< All operators of a name together.
  scope,  ///< Each operator, from the sources on.
  stage,  ///< Each part of the pipeline that runs as one.
};
enum class ProfileOrder : uint8_t { time, self, cpu, given_bytes, peak, calls };

struct ProfileOptions {
  ProfileView view = ProfileView::op;
  ProfileOrder order_by = ProfileOrder::self;  ///< Largest first. A scope keeps the plan's order.
  double min_ms = 0;                           ///< Rows with less time of their own are left out.
  int max_depth = -1;                          ///< For a scope: at most so many inputs below the program; below 0: all.
  std::string show = "", hide = "";  ///< Regular expressions: names that must have a match, that must have none.
};

/// Times are sums over threads, in seconds. Those of operators are sampled: a stage's time, divided as its samples
/// were.
struct ProfileRow {
  std::string name = {};
  std::string title = {};  ///< OperatorCost::title, of a row that is one operator; else empty.
  std::string stage = {};  ///< The one that it runs in; the first, if there are several.
  int depth = 0;           ///< For a scope: inputs between the program and this.
  int64_t calls = 0;       ///< Elements made.
  double total_s = 0;      ///< With what it called: the operators before it in its stage.
  double self_s = 0;
  double cpu_s = 0;      ///< The part of self_s in which it computed.
  double blocked_s = 0;  ///< The part of self_s in which it slept, in a file, a network, a lock, a timer.
  double share = 0;      ///< self_s over that of all rows.
  double bytes = 0;      ///< Size of the elements that it gave.
  /// Size of blocks that it allocated, now and at most: see OperatorMemory. Several operators' are added up, though
  /// each may have had its most at another time.
  int64_t held_bytes = 0, peak_bytes = 0;
  double read_bytes = 0;  ///< From files: see StageTotals::read_bytes.
  ThreadsSeen seen = {};
};

/// What threads that were blocked were blocked in for the most part, and of how many looks: "lock 75 % of 4"; empty if
/// none was seen.
std::string blocked_in(const ThreadsSeen& seen);

/// InvalidArgument for a `show` or `hide` that is no regular expression.
Result<std::vector<ProfileRow>> profile_of(const LoaderStats& stats, const ProfileOptions& options = {});
/// A table for people, whose last row adds the others up: "all", or "these" if `are_all` is false or the shares say it.
std::string to_string(const std::vector<ProfileRow>& rows, bool are_all = true);
/// An array.
void write_profile(JsonWriter& json, const std::vector<ProfileRow>& rows);

}  // namespace headpond

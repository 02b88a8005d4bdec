// SPDX-License-Identifier: Apache-2.0
// What the threads of this process took of the processors, and how often they waited for pages from a disk, by their
// names. Linux only; elsewhere there are none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headpond {

/// All threads whose names are alike but for a number at their end: "headpond/" of headpond/0 and headpond/1. The
/// system keeps the first 15 bytes of a name.
struct ThreadUse {
  std::string name = {};
  int64_t threads = 0;       ///< How many exist now.
  double cpu_s = 0;          ///< Since the first look.
  int64_t major_faults = 0;  ///< The same: pages that had to be read, of mapped files or from swap.
};

namespace internal {

/// The figures of a line of /proc/self/task/*/stat.
struct ThreadStat {
  std::string name = {};
  double cpu_s = 0;
  int64_t major_faults = 0;
};
/// `tick_s`: of the system's clock. None iff the line is not whole.
std::optional<ThreadStat> thread_stat_of(std::string_view line, double tick_s);

/// Looks at all threads, about 10 us for each. What one took between the last look and its end is not seen. One thread
/// at a time.
class ThreadUses {
 public:
  void look();
  /// Groups that took most come first.
  std::vector<ThreadUse> uses() const;

 private:
  void add(int thread_id, const ThreadStat& now);

  bool has_looked_ = false;
  std::map<int, ThreadStat> seen_;         // By thread.
  std::map<std::string, ThreadUse> uses_;  // By name.
};

}  // namespace internal

}  // namespace headpond

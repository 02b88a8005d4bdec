// SPDX-License-Identifier: Apache-2.0
// How often and how long threads waited for one thing.
#pragma once

#include <cstdint>

#include "headpond/base/math/log_histogram.h"
#include "headpond/base/stats.h"

namespace headpond {

/// Any number of readers. A thread that waits while it holds the lock counts without locked instructions.
class WaitCell {
 public:
  /// REQUIRES: the lock that the waits belong to. `is_first`: false if the same waiter continues to wait.
  void add(int64_t waited_ns, bool is_first = true) { holders_.add(waited_ns, is_first); }
  /// The same for a thread that has no lock.
  void add_without_lock(int64_t waited_ns, bool is_first = true) { others_.add(waited_ns, is_first); }
  int64_t count() const { return holders_.count.get() + others_.count.get(); }
  int64_t total_ns() const { return holders_.total_ns.get() + others_.total_ns.get(); }
  /// Of single waits, of which a waiter may have several; at most 1/8 above the exact one. REQUIRES: 0 <= share <= 1.
  int64_t quantile_ns(double share) const { return holders_.times.quantile_with(others_.times, share); }

 private:
  template <class Cell>
  struct Waits {
    Cell count, total_ns;
    BasicLogHistogram<Cell> times;
    void add(int64_t waited_ns, bool is_first) {
      if (is_first) count.add(1);
      total_ns.add(waited_ns);
      times.add(waited_ns);
    }
  };
  Waits<StatsCell> holders_;
  Waits<SharedStatsCell> others_;
};

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// How often and how long threads waited for one thing.
#pragma once

#include <cstdint>

#include "headpond/base/math/log_histogram.h"
#include "headpond/base/stats.h"

namespace headpond {

/// Any number of writers: after a wait, a locked instruction costs little. Any number of readers.
class WaitCell {
 public:
  /// `is_first`: false if the same waiter continues to wait.
  void add(int64_t waited_ns, bool is_first = true) {
    if (is_first) count_.add(1);
    total_ns_.add(waited_ns);
    times_.add(waited_ns);
  }
  int64_t count() const { return count_.get(); }
  int64_t total_ns() const { return total_ns_.get(); }
  /// Of single waits, of which a waiter may have several; at most 1/8 above the exact one. REQUIRES: 0 <= share <= 1.
  int64_t quantile_ns(double share) const { return times_.quantile(share); }

 private:
  SharedStatsCell count_, total_ns_;
  SharedLogHistogram times_;
};

}  // namespace headpond

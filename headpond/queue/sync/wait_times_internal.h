// SPDX-License-Identifier: Apache-2.0
// How long the calls of one side of a queue waited. Written only by calls that waited.
#pragma once

#include <atomic>
#include <cstdint>

#include "headpond/base/log_histogram.h"
#include "headpond/base/stats.h"

namespace headpond {

/// Any number of writers and readers.
class WaitTimes {
 public:
  /// A call waited `waited_ns` more. `before_ns`: what it had waited until then; below 0: it had not waited.
  void add(int64_t before_ns, int64_t waited_ns) {
    sum_.add(waited_ns, before_ns < 0);
    before_ns < 0 ? calls_.add(waited_ns) : calls_.move(before_ns, before_ns + waited_ns);
  }
  int64_t count() const { return sum_.count(); }
  int64_t total_ns() const { return sum_.total_ns(); }
  /// Of all calls that waited; as LogHistogram::quantile().
  int64_t quantile_ns(double share) const { return calls_.quantile(share); }

 private:
  class Cell {
   public:
    void add(int64_t amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
    int64_t get() const { return value_.load(std::memory_order_relaxed); }

   private:
    std::atomic<int64_t> value_ = 0;
  };
  WaitCell sum_;
  BasicLogHistogram<Cell> calls_;
};

}  // namespace headpond

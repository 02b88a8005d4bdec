// SPDX-License-Identifier: Apache-2.0
// Whether it costs nothing that no more rows are begun for a while.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace headpond::internal {

/// Rows that wait for one lock end at the same rate while none is begun, until none is left. Rows that wait for answers
/// of a server look the same to the system, but without new ones fewer and fewer end: then it is not done again. One
/// thread at a time.
class HoldBack {
 public:
  /// A row has ended at `now`. `holds`: no more are begun now; `others_run`: some have begun, else the time until the
  /// next one ends tells nothing.
  void row_ended(bool holds, int64_t now_ns, bool others_run = true) {
    Part& part = holds_ ? held_ : free_;
    if (last_ns_ > 0) part.ns += static_cast<double>(std::max(now_ns - last_ns_, int64_t{0}));
    last_ns_ = others_run ? now_ns : 0;
    ++part.rows;
    const bool ends = std::exchange(holds_, holds) && !holds;
    if (ends && held_.ns >= kEnoughNs && held_.rows * free_.ns < kLeast * free_.rows * held_.ns) costs_nothing_ = false;
  }
  /// True until it is known that it costs something.
  bool costs_nothing() const { return costs_nothing_; }

 private:
  struct Part {
    double rows = 0, ns = 0;
  };
  static constexpr double kEnoughNs = 20'000'000;
  static constexpr double kLeast = 0.5;  // Of the rate at other times.

  Part held_, free_;
  int64_t last_ns_ = 0;
  bool holds_ = false, costs_nothing_ = true;
};

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// A running mean of what is measured again and again.
#pragma once

namespace headpond::internal {

/// Moves to each sample by the share `rise` of the way if it is larger, `fall` if it is smaller. So a high rise and a
/// low fall stay near the largest recent samples, the reverse near the smallest. The first sample counts whole.
class MovingAverage {
 public:
  constexpr MovingAverage(double rise, double fall) : rise_(rise), fall_(fall) {}

  void add(double sample) {
    value_ = known_ ? value_ + (sample > value_ ? rise_ : fall_) * (sample - value_) : sample;
    known_ = true;
  }
  bool known() const { return known_; }
  double value() const { return value_; }  ///< 0 before the first sample.

 private:
  double rise_, fall_;
  double value_ = 0;
  bool known_ = false;
};

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// Running estimates of what is measured again and again.
#pragma once

namespace headpond::internal {

/// Follows its samples, upwards by the share `rise` of the way at each, downwards by `fall`. So a high rise and a low
/// fall stay near the largest ones of late, the reverse near the smallest. The first sample counts whole.
class Estimate {
 public:
  constexpr Estimate(double rise, double fall) : rise_(rise), fall_(fall) {}

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

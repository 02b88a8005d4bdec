// SPDX-License-Identifier: Apache-2.0
// Forecasts from the rate of the first elements whether reaching min_after_dequeue will take too long.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace headpond::internal {

/// Not thread-safe.
class FillCheck {
 public:
  FillCheck(int64_t min_after_dequeue, std::chrono::nanoseconds fill_patience);

  /// True at the first put and at the 64th element, unless the minimum is reached by then.
  bool is_due(int64_t put) const { return put >= due_; }
  /// How many elements must have been put for that.
  int64_t due() const { return due_; }
  /// `put` elements were put until `now`. Returns a warning iff at this rate the minimum takes longer than
  /// `fill_patience`, else "". REQUIRES: is_due(put).
  std::string look(int64_t put, int64_t now);

 private:
  const int64_t fill_;
  const double patience_s_;
  int64_t due_;
  int64_t first_put_ = 0;  // Elements of the first put, and its time: the rate is that of the elements after it.
  int64_t first_ns_ = 0;
};

}  // namespace headpond::internal

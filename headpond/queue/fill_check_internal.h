// SPDX-License-Identifier: Apache-2.0
// Foresees, by the rate of the first elements, that a minimum fill will take too long.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace headpond::internal {

/// Not thread-safe.
class FillCheck {
 public:
  FillCheck(int64_t min_after_dequeue, std::chrono::nanoseconds patience);

  /// True at the first put and when 64 elements are in, if they are not enough to fill.
  bool is_due(int64_t put) const { return put >= due_; }
  /// `put` elements were put until `now`. Returns the warning iff by their rate the fill takes longer than the
  /// patience; else nothing. REQUIRES: is_due(put).
  std::string look(int64_t put, int64_t now);

 private:
  const int64_t fill_;
  const double patience_s_;
  int64_t due_;
  int64_t first_put_ = 0;  // How many the first put brought, and when: the rate is that of those after it.
  int64_t first_ns_ = 0;
};

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// A histogram of durations in fixed memory: eight cells for each power of two, so that a quantile is at most 1/8 above
// the exact one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "headpond/base/stats.h"

namespace headpond {

/// Any number of readers at any time. `Cell` counts, and says how many may write at once.
template <class Cell>
class BasicLogHistogram {
 public:
  /// A negative value counts as 0.
  void add(int64_t value) {
    cells_[cell_of(static_cast<uint64_t>(std::max<int64_t>(value, 0)))].add(1);
    count_.add(1);
  }

  int64_t count() const { return count_.get(); }

  /// The upper edge of the cell that holds the value of rank ceil(share * count()); 0 iff nothing was added.
  /// REQUIRES: 0 <= share <= 1.
  int64_t quantile(double share) const {
    return quantile_of(share, count(), [this](size_t i) { return cells_[i].get(); });
  }
  /// The same of the values of both.
  template <class OtherCell>
  int64_t quantile_with(const BasicLogHistogram<OtherCell>& other, double share) const {
    return quantile_of(share, count() + other.count(),
                       [&](size_t i) { return cells_[i].get() + other.cells_[i].get(); });
  }

 private:
  template <class OtherCell>
  friend class BasicLogHistogram;

  static constexpr int kSubBits = 3;
  static constexpr size_t kSub = size_t{1} << kSubBits;
  static constexpr size_t kCells = kSub * (63 - kSubBits + 1);

  // Values below 8 have a cell each; above, the leading bit and the three after it choose the cell.
  static constexpr size_t cell_of(uint64_t value) {
    if (value < kSub) return value;
    const int shift = std::bit_width(value) - 1 - kSubBits;
    return (static_cast<size_t>(shift) << kSubBits) + static_cast<size_t>(value >> shift);
  }
  static constexpr int64_t upper_edge(size_t cell) {
    if (cell < kSub) return static_cast<int64_t>(cell);
    const size_t shift = (cell >> kSubBits) - 1;
    return static_cast<int64_t>(((uint64_t{kSub} + cell % kSub + 1) << shift) - 1);
  }

  template <class CountOf>
  static int64_t quantile_of(double share, int64_t count, const CountOf& count_of) {
    const auto rank = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(share * static_cast<double>(count))));
    int64_t seen = 0;
    for (size_t i = 0; i < kCells; ++i) {
      seen += count_of(i);
      if (seen >= rank) return upper_edge(i);
    }
    return 0;
  }

  std::array<Cell, kCells> cells_;
  Cell count_;
};

using LogHistogram = BasicLogHistogram<StatsCell>;              ///< One writer at a time.
using SharedLogHistogram = BasicLogHistogram<SharedStatsCell>;  ///< Any number of writers.

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// The window shuffle of positions (docs/decisions/0002).
#pragma once

#include <algorithm>
#include <cstdint>

#include "headpond/base/permutation.h"

namespace headpond::internal {

/// A bijection of [0, slots) that moves no number by 2 x window or more: blocks of `window` places are permuted, then
/// the same blocks half a window further on. Thread-safe.
class WindowOrder {
 public:
  /// REQUIRES: window >= 1.
  WindowOrder(RandomKey key, int64_t slots, int64_t window)
      : key_(key), slots_(slots), window_(std::clamp<int64_t>(window, 1, std::max<int64_t>(slots, 1))) {}

  int64_t operator()(int64_t i) const { return moved(moved(i, window_ / 2, 1), 0, 0); }

 private:
  // Blocks begin at `first`, `first` + window, ...; what is before `first` is a block too.
  int64_t moved(int64_t i, int64_t first, uint64_t pass) const {
    const int64_t block = i < first ? 0 : (i - first) / window_ + 1;
    const int64_t begin = block == 0 ? 0 : first + (block - 1) * window_;
    const int64_t end = block == 0 ? first : begin + std::min(slots_ - begin, window_);
    const RandomKey key{mix(mix(key_.value, pass), static_cast<uint64_t>(block))};
    return begin + Permutation(key, end - begin)(i - begin);
  }

  RandomKey key_;
  int64_t slots_;
  int64_t window_;
};

}  // namespace headpond::internal

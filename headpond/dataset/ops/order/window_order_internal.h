// SPDX-License-Identifier: Apache-2.0
// The window shuffle of positions (docs/decisions/0002).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "headpond/base/permutation.h"

namespace headpond::internal {

/// A bijection of [0, slots) that moves no number by 2 x window or more: blocks of `window` positions are permuted,
/// then the same blocks half a window further on. Thread-safe.
class WindowOrder {
 public:
  class Near;
  /// REQUIRES: window >= 1.
  WindowOrder(RandomKey key, int64_t slots, int64_t window)
      : key_(key), slots_(slots), window_(std::clamp<int64_t>(window, 1, std::max<int64_t>(slots, 1))) {}

  int64_t operator()(int64_t i) const { return moved(moved(i, window_ / 2, 1), 0, 0); }

 private:
  struct Block {
    uint64_t pass;
    int64_t number, begin, size;
  };
  // Where `i` is. Blocks begin at `first`, `first` + window, ...; what is before `first` is a block too.
  Block block(int64_t i, int64_t first, uint64_t pass) const {
    const int64_t number = i < first ? 0 : (i - first) / window_ + 1;
    const int64_t begin = number == 0 ? 0 : first + (number - 1) * window_;
    return {pass, number, begin, number == 0 ? first : std::min(slots_ - begin, window_)};
  }
  Permutation permutation(const Block& block) const {
    return {RandomKey{mix(mix(key_.value, block.pass), static_cast<uint64_t>(block.number))}, block.size};
  }
  int64_t moved(int64_t i, int64_t first, uint64_t pass) const {
    const Block at = block(i, first, pass);
    return at.begin + permutation(at)(i - at.begin);
  }

  RandomKey key_;
  int64_t slots_;
  int64_t window_;
};

/// The same order, for many positions: the blocks that it met last stay. One thread at a time.
class WindowOrder::Near {
 public:
  /// `order` outlives it.
  explicit Near(const WindowOrder& order) : order_(order) {}
  void apply(std::span<const int64_t> positions, int64_t* to) {
    for (const int64_t i : positions) *to++ = moved(moved(i, order_.window_ / 2, 1), 0, 0);
  }

 private:
  struct Known {
    int64_t number = 0;
    std::optional<Permutation> permutation;
  };
  int64_t moved(int64_t i, int64_t first, uint64_t pass) {
    const Block at = order_.block(i, first, pass);
    Known& known = known_[pass][static_cast<size_t>(at.number) % known_[pass].size()];
    if (!known.permutation || known.number != at.number) known = {at.number, order_.permutation(at)};
    return at.begin + (*known.permutation)(i - at.begin);
  }

  const WindowOrder& order_;
  std::array<std::array<Known, 4>, 2> known_;
};

}  // namespace headpond::internal

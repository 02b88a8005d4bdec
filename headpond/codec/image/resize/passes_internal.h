// SPDX-License-Identifier: Apache-2.0
// The passes of resizing over one row: what is worth vector code. All rows are contiguous pixels of `channels` values.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "headpond/base/vector/vector_targets.h"
#include "headpond/codec/image/resize/taps_internal.h"

namespace headpond::resize_internal {

/// What a row's loops need of the taps of its columns, in the order in which vectors take it. Each target has its own
/// form, or none. A form that would take more than kMostBytes, besides `bases`, is not made: without the bound few rows
/// of sums gain, and at most 6 % (Lanczos from 1920 to 640 RGB, 819 KB). The memory is kept from one image to the next.
struct ColumnPlan {
  static constexpr int64_t kMostBytes = 512 * 1024;

  /// For a lerp: groups of `lerp_step` values, whose sources lie within 64 bytes from `bases` on, and a LerpGroup for
  /// each.
  int64_t lerp_step = 0;  ///< 0: none; sources lie too far apart, or the last one ends within 64 bytes.
  std::vector<int32_t> bases;
  /// Lane i of `even` is the group's value 2 i, that of `odd` 2 i + 1.
  struct alignas(64) LerpLanes {
    uint16_t first[32], second[32];  ///< Offsets of both pixels from the base on.
    int16_t weights[32];             ///< Weights of the second pixel, times 2^15.
  };
  struct LerpGroup {
    LerpLanes even, odd;
  };
  std::vector<LerpGroup> lerps;

  /// For sums: word [pair * size + i] has weights 2 pair and 2 pair + 1 of pixel i, the first in its lower 16 bits.
  /// `low` has bits 0 to 11 of each, `high` the others. Words after the last weight are 0.
  int64_t pairs = 0;  ///< 0: none.
  std::vector<uint32_t> low;
  std::vector<uint32_t> high;

  /// For sums: groups of `pixels` pixels, at most 16 values, whose sources lie within 64 bytes from `bases`. For each
  /// group and four of its weights 4 blocks: offsets from the base on, and the digits of the weights.
  int64_t quads = 0;  ///< Fours of weights of a pixel. 0: none.
  int64_t pixels = 0;
  struct alignas(64) Block {
    uint8_t bytes[64];
  };
  std::vector<Block> blocks;

  /// Where one pixel is taken: groups of `take_step` values, whose sources lie within 128 bytes from `bases`, and a
  /// block of offsets for each.
  int64_t take_step = 0;  ///< 0: none; sources lie too far apart.

  void clear();
  void make_takes(const TapsPart& columns, int channels);
  void make_lerps(const TapsPart& columns, int channels);
  void make_pairs(const TapsPart& columns);
  /// Leaves quads 0 if sources lie too far apart or a weight has more digits.
  void make_quads(const TapsPart& columns, int channels);
};

/// A weight as signed digits: digit[0] + 2^8 digit[1] + 2^16 digit[2].
struct WeightDigits {
  std::array<int8_t, 3> digit;
  bool is_exact;  ///< False: it has more digits.
};
inline WeightDigits digits_of(int32_t weight) {
  const auto first = static_cast<int8_t>(weight);
  const int32_t rest = (weight - first) >> 8;
  const auto second = static_cast<int8_t>(rest);
  const int32_t last = (rest - second) >> 8;
  return {{first, second, static_cast<int8_t>(last)}, last == static_cast<int8_t>(last)};
}

/// One row of f32 where one pixel is taken: columns.size pixels from `from` to `to`, which do not overlap.
void take_columns(const float* from, float* to, const TapsPart& columns, int channels);

/// The loops of these passes over u8, of one instruction set: equal bytes on each.
struct Passes {
  /// Makes pixels of `channels` values of `to`. Reads nothing from `from` + `end` on; `end` is at least columns.to()
  /// pixels. `plan` was made by `plan` for these columns, or is empty.
  using Columns = void (*)(const uint8_t* from, int64_t end, uint8_t* to, const TapsPart& columns, int channels,
                           const ColumnPlan& plan);
  Columns sum_columns;   ///< By taps that are sums.
  Columns lerp_columns;  ///< By taps that are a lerp.
  Columns take_columns;  ///< Where one pixel is taken.
  /// The weighted sum of `count` rows of `values` values.
  void (*sum_rows)(const uint8_t* const* rows, const int32_t* weights, int64_t count, uint8_t* to, int64_t values);
  /// Two rows mixed, `weight` of 2^15 parts of the second. `to` overlaps neither.
  void (*lerp_rows)(const uint8_t* first, const uint8_t* second, int32_t weight, uint8_t* to, int64_t values);
  /// The pixels of a row of `pixels` pixels from the last to the first.
  void (*reverse)(const uint8_t* from, uint8_t* to, int64_t pixels, int channels);
  /// Null: the loops need none.
  void (*plan)(const TapsPart& columns, int channels, ColumnPlan& plan);
};

/// The functions of the best target of this machine.
const Passes& passes();
/// Their twins without vectors.
const Passes& scalar_passes();
/// All that this machine can run, for tests.
const std::vector<VectorTarget<Passes>>& pass_targets();

}  // namespace headpond::resize_internal

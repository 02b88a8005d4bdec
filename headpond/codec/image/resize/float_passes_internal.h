// SPDX-License-Identifier: Apache-2.0
// The passes of resizing over one row of f32. Sums are of doubles, in the order of the taps: the same bits everywhere,
// but for which NaN a NaN is.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "headpond/base/vector/vector_targets.h"
#include "headpond/codec/image/resize/taps_internal.h"

namespace headpond::resize_internal {

/// What a row's sums need of the taps of its columns, in the order in which vectors take it: groups of `step` values,
/// at most kLanes, whose sources lie within kWindow values from `bases` on. The memory is kept from one image to the
/// next, and is no more than kMostTaps taps: wider rows have no plan.
struct FloatPlan {
  static constexpr int64_t kLanes = 8, kWindow = 16;
  static constexpr int64_t kMostTaps = 4096;  ///< 512 KiB.
  /// One of the taps of each value of a group.
  struct alignas(64) Tap {
    std::array<double, kLanes> weights = {};
    std::array<int32_t, kLanes> offsets = {};  ///< From the base on.
    uint8_t lanes = 0;                         ///< Bit i: value i has it.
  };
  int64_t step = 0;  ///< 0: none; sources lie too far apart, or the row is too wide.
  std::vector<int32_t> bases;
  int64_t each = 0;  ///< Taps of a group; some may be of no value.
  std::vector<Tap> taps;

  void make(const TapsPart& columns, int channels);

 private:
  bool make_groups(const TapsPart& columns, int channels, int64_t values);
  bool put_group(const TapsPart& columns, int channels, int64_t begin, int64_t end);
};

/// The loops of one instruction set. Rows are contiguous pixels of `channels` values; `from` and `to` don't overlap.
struct FloatPasses {
  /// columns.size pixels by taps that are sums. Reads nothing from `from` + `end` on. `plan` was made by `plan` for
  /// these columns, or is empty.
  void (*sum_columns)(const float* from, int64_t end, float* to, const TapsPart& columns, int channels,
                      const FloatPlan& plan);
  /// The weighted sum of `count` rows of `values` values.
  void (*sum_rows)(const float* const* rows, const double* weights, int64_t count, float* to, int64_t values);
  /// The pixels of a row of `pixels` pixels from the last to the first.
  void (*reverse)(const float* from, float* to, int64_t pixels, int channels);
  /// Null: the loops need none.
  void (*plan)(const TapsPart& columns, int channels, FloatPlan& plan);
};

/// The functions of the best target of this machine.
const FloatPasses& float_passes();
/// Their twins without vectors.
const FloatPasses& scalar_float_passes();
/// All that this machine can run, for tests.
const std::vector<VectorTarget<FloatPasses>>& float_pass_targets();

/// Pixels `begin` to `end` of the part.
inline void sum_float_pixels(const float* from, float* to, const TapsPart& columns, int channels, int64_t begin,
                             int64_t end) {
  for (int64_t x = begin; x < end; ++x) {
    const float* const pixel = from + columns.first(x) * channels;
    const double* const weights = columns.exact(x);
    const int64_t count = columns.count(x);
    for (int c = 0; c < channels; ++c) {
      double sum = 0;
      for (int64_t j = 0; j < count; ++j) sum += static_cast<double>(pixel[j * channels + c]) * weights[j];
      to[x * channels + c] = static_cast<float>(sum);
    }
  }
}

/// Values `begin` to `end` of a weighted sum of rows.
inline void sum_float_values(const float* const* rows, const double* weights, int64_t count, float* to, int64_t begin,
                             int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < count; ++j) sum += static_cast<double>(rows[j][i]) * weights[j];
    to[i] = static_cast<float>(sum);
  }
}

}  // namespace headpond::resize_internal

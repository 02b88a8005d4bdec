// SPDX-License-Identifier: Apache-2.0
// The passes of resizing over one row of f32. Sums are of doubles, in the order of the taps: the same bits everywhere,
// but for which NaN a NaN is.
#pragma once

#include <cstdint>
#include <vector>

#include "headpond/base/vector/vector_targets.h"
#include "headpond/codec/image/resize/taps_internal.h"

namespace headpond::resize_internal {

/// The loops of one instruction set. Rows are contiguous pixels of `channels` values; `from` and `to` don't overlap.
struct FloatPasses {
  /// columns.size pixels by taps that are sums. Reads nothing from `from` + `end` on.
  void (*sum_columns)(const float* from, int64_t end, float* to, const TapsPart& columns, int channels);
  /// The weighted sum of `count` rows of `values` values.
  void (*sum_rows)(const float* const* rows, const double* weights, int64_t count, float* to, int64_t values);
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

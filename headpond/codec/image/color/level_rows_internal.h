// SPDX-License-Identifier: Apache-2.0
// What autocontrast does with the values of an image, written for vectors too: equal bytes on every target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/base/vector/vector_targets.h"

namespace headpond::color_internal {

inline constexpr size_t kMostChannels = 4;

template <class T>
struct ValueRange {
  T low, high;
};

/// `values` is a multiple of `channels`, of 1 to kMostChannels.
struct LevelRows {
  /// The range of each channel, to `ranges`. A NaN does not count, unless it is in the first pixel. REQUIRES: a pixel.
  void (*range_u8)(const uint8_t* in, size_t values, size_t channels, ValueRange<uint8_t>* ranges);
  void (*range_f32)(const float* in, size_t values, size_t channels, ValueRange<float>* ranges);
  /// Each value's part of its channel's range, within [0, 1]. `out` may be `in`.
  void (*stretch_f32)(const float* in, float* out, size_t values, size_t channels, const ValueRange<float>* ranges);
};

/// The functions of the best target of this machine.
const LevelRows& level_rows();
/// The twins.
const LevelRows& level_rows_scalar();
/// The others that this machine can run, for tests.
const std::vector<VectorTarget<LevelRows>>& level_row_targets();

/// Widens `ranges`. Comparisons with NaN are false.
template <class T>
void widen_ranges(const T* in, size_t values, size_t channels, ValueRange<T>* ranges) {
  for (size_t i = 0; i < values; i += channels) {
    for (size_t c = 0; c < channels; ++c) {
      if (in[i + c] < ranges[c].low) ranges[c].low = in[i + c];
      if (in[i + c] > ranges[c].high) ranges[c].high = in[i + c];
    }
  }
}

}  // namespace headpond::color_internal

// SPDX-License-Identifier: Apache-2.0
// What a pass of resizing sums up: for each pixel of the result, along one axis, pixels of the source and weights.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "headpond/codec/image/resize/resize.h"

namespace headpond::resize_internal {

inline constexpr int kWeightBits = 22;  ///< Bits after the point of a weight of u8.
inline constexpr int kLerpBits = 15;    ///< Bits of the second pixel's weight where two are mixed.

struct TapsKey {
  int64_t in = 0;   ///< Pixels of the source.
  int64_t out = 0;  ///< Pixels of the result.
  ResizeOptions options = {};
  DType dtype = DType::u8;
  bool reversed = false;  ///< The last pixel of the result first: a flip.

  /// True iff the pass changes nothing.
  bool is_identity() const { return in == out && !reversed; }
  /// True iff one pixel is taken. A flip without a resize is such a pass.
  bool is_nearest() const { return in == out || options.filter == ResizeFilter::nearest; }
  /// True iff two u8 are mixed: pixel i of the result is
  /// a + (((b - a) * weight + 2^14) >> 15), a = source[first[i]], b = source[min(first[i] + 1, in - 1)].
  bool is_lerp() const {
    return !is_nearest() && dtype == DType::u8 && options.filter == ResizeFilter::bilinear && !options.antialias;
  }
  friend bool operator==(const TapsKey&, const TapsKey&) = default;
};

/// Immutable after make_taps(). Pixel i of the result sums source[first[i] + j] * weight[i * stride + j] over j <
/// count[i]; `fixed` are the weights for u8 times 2^22 (lerp: 2^15), `exact` those for f32. count and weights are empty
/// for nearest, count for a lerp.
struct Taps {
  TapsKey key;
  int64_t stride = 0;
  std::vector<int32_t> first;
  std::vector<int32_t> count;
  std::vector<int32_t> fixed;
  std::vector<double> exact;
};

/// REQUIRES: key.in and key.out are 1 to kResizeMaxSide.
Taps make_taps(const TapsKey& key);

/// A part of the pixels of a result, made from a part of the source: first[i] - shift is its index in that part.
struct TapsPart {
  const Taps* taps = nullptr;
  int64_t begin = 0;  ///< The first pixel of the result.
  int64_t size = 0;
  int64_t shift = 0;

  int64_t first(int64_t i) const { return taps->first[static_cast<size_t>(begin + i)] - shift; }
  int64_t count(int64_t i) const {
    if (!taps->count.empty()) return taps->count[static_cast<size_t>(begin + i)];
    if (taps->fixed.empty()) return 1;
    return std::min<int64_t>(taps->key.in - taps->first[static_cast<size_t>(begin + i)], 2);
  }
  const int32_t* fixed(int64_t i) const { return taps->fixed.data() + (begin + i) * taps->stride; }
  const double* exact(int64_t i) const { return taps->exact.data() + (begin + i) * taps->stride; }
  /// The pixels of the source that are read: [from, to).
  int64_t from() const;
  int64_t to() const;
};

}  // namespace headpond::resize_internal

// SPDX-License-Identifier: Apache-2.0
// The loops over pixels that are written for vectors too, and their scalar twins: equal bytes on every target.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/base/vector/vector_targets.h"
#include "headpond/codec/image/color/color_internal.h"

namespace headpond::color_internal {

/// A loop over a row has as many steps as its last argument but one says; rows may have any alignment.
struct ColorRows {
  /// u8 RGB pixels; `factor` from blend_factor(). `out` may be `in`.
  void (*saturation)(const uint8_t* in, uint8_t* out, size_t pixels, int32_t factor);
  /// f32 RGB pixels: each value times `weight` and the grey times `rest`, within [0, 1]. `out` may be `in`.
  void (*saturation_f32)(const float* in, float* out, size_t pixels, float weight, float rest);
  /// The grey of RGB pixels, in 1 or 3 `channels`. `out` may be `in`.
  void (*grey_u8)(const uint8_t* in, uint8_t* out, size_t pixels, size_t channels);
  void (*grey_f32)(const float* in, float* out, size_t pixels, size_t channels);
  /// u8 RGB pixels; `shift` from hue_shift(). `out` may be `in`.
  void (*hue)(const uint8_t* in, uint8_t* out, size_t pixels, int32_t shift);
  /// Across a row: out[i] = weights[0] in[i] + the sum over k of weights[k] (in[i - k step] + in[i + k step]), k from 1
  /// to `radius` in this order. u8: weights sum to 65536 with both sides; the result has 8 fraction bits.
  void (*across_u8)(const uint8_t* in, uint16_t* out, size_t values, const uint32_t* weights, size_t radius,
                    size_t step);
  void (*across_f32)(const float* in, float* out, size_t values, const float* weights, size_t radius, size_t step);
  /// Down: the same with rows[radius + k] and rows[radius - k].
  void (*down_u8)(const uint16_t* const* rows, uint8_t* out, size_t values, const uint32_t* weights, size_t radius);
  void (*down_f32)(const float* const* rows, float* out, size_t values, const float* weights, size_t radius);
};

/// The functions of the best target of this machine.
const ColorRows& color_rows();
/// The twins.
const ColorRows& color_rows_scalar();
/// The others that this machine can run, for tests.
const std::vector<VectorTarget<ColorRows>>& color_row_targets();

/// A part of the circle, times 6, with 16 fraction bits. REQUIRES: -0.5 <= factor <= 0.5.
inline int32_t hue_shift(double factor) {
  const double sixths = factor * 6 * 65536;
  return static_cast<int32_t>(sixths < 0 ? sixths - 0.5 : sixths + 0.5);
}

// Hue is an angle of 0 to 6 times the pixel's range, with 16 fraction bits: without a division it is exact. A channel
// is the maximum less the part of the range that the angle, seen from that channel (5, 3 and 1 times the range further
// for red, green and blue), has beyond the nearest full sector: A. R. Smith, "Color gamut transform pairs", 1978.
inline void hue_pixel(const uint8_t* in, uint8_t* out, int32_t shift) {
  const int32_t r = in[0], g = in[1], b = in[2];
  const int32_t high = std::max({r, g, b});
  const int32_t range = high - std::min({r, g, b});
  const int32_t one = range << 16;
  const int32_t turn = 6 * one;
  const int32_t angle = high == r ? g - b : high == g ? 2 * range + (b - r) : 4 * range + (r - g);
  int32_t hue = angle * 65536 + shift * range;
  hue += hue < 0 ? turn : 0;
  for (int32_t c = 0; c < 3; ++c) {
    int32_t seen = hue + (5 - 2 * c) * one;
    seen -= seen >= turn ? turn : 0;
    seen -= seen >= turn ? turn : 0;
    const int32_t beyond = std::min(std::max(std::min(seen, 4 * one - seen), 0), one);
    out[c] = static_cast<uint8_t>(((high << 16) - beyond + 32768) >> 16);
  }
}

inline void saturation_pixel(const uint8_t* in, uint8_t* out, int32_t factor) {
  const int32_t grey = grey_of(in);
  for (int c = 0; c < 3; ++c) out[c] = blend(in[c], grey, factor);
}

inline void saturation_pixel(const float* in, float* out, float weight, float rest) {
  const float grey = grey_of(in) * rest;
  for (int c = 0; c < 3; ++c) out[c] = to_unit(in[c] * weight + grey);
}

template <class T>
void grey_pixel(const T* in, T* out, size_t channels) {
  const T grey = static_cast<T>(grey_of(in));
  for (size_t c = 0; c < channels; ++c) out[c] = grey;
}

inline uint16_t across_value(const uint8_t* in, const uint32_t* weights, size_t radius, size_t step) {
  uint32_t sum = weights[0] * in[0];
  for (size_t k = 1; k <= radius; ++k) {
    sum += weights[k] * (uint32_t{*(in - k * step)} + uint32_t{in[k * step]});
  }
  return static_cast<uint16_t>((sum + 128) >> 8);
}

inline uint8_t down_value(const uint16_t* const* rows, size_t i, const uint32_t* weights, size_t radius) {
  uint32_t sum = weights[0] * rows[radius][i];
  for (size_t k = 1; k <= radius; ++k) {
    sum += weights[k] * (uint32_t{rows[radius - k][i]} + uint32_t{rows[radius + k][i]});
  }
  return static_cast<uint8_t>((sum + (1U << 23)) >> 24);
}

inline float across_value(const float* in, const float* weights, size_t radius, size_t step) {
  float sum = weights[0] * in[0];
  for (size_t k = 1; k <= radius; ++k) sum = sum + weights[k] * (*(in - k * step) + in[k * step]);
  return sum;
}

inline float down_value(const float* const* rows, size_t i, const float* weights, size_t radius) {
  float sum = weights[0] * rows[radius][i];
  for (size_t k = 1; k <= radius; ++k) sum = sum + weights[k] * (rows[radius - k][i] + rows[radius + k][i]);
  return sum;
}

}  // namespace headpond::color_internal

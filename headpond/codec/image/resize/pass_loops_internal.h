// SPDX-License-Identifier: Apache-2.0
// What the passes do with one value, mostly of u8, and their loops without vectors.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "headpond/codec/image/resize/taps_internal.h"

namespace headpond::resize_internal {

inline constexpr int32_t kHalfWeight = 1 << (kWeightBits - 1);
/// A weight of u8 is `high` times 2^12 plus `low`: both fit 16 bits, and `low` is not negative.
inline constexpr int kLowBits = 12;

inline uint8_t sum_to_u8(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255)); }

inline uint8_t lerp(int32_t a, int32_t b, int32_t weight) {
  return static_cast<uint8_t>(a + (((b - a) * weight + (1 << (kLerpBits - 1))) >> kLerpBits));
}

/// Pixels `begin` to `end` of the part.
inline void sum_pixels(const uint8_t* from, uint8_t* to, const TapsPart& columns, int channels, int64_t begin,
                       int64_t end) {
  for (int64_t x = begin; x < end; ++x) {
    const uint8_t* const pixel = from + columns.first(x) * channels;
    const int32_t* const weights = columns.fixed(x);
    const int64_t count = columns.count(x);
    for (int c = 0; c < channels; ++c) {
      int32_t sum = kHalfWeight;
      for (int64_t j = 0; j < count; ++j) sum += pixel[j * channels + c] * weights[j];
      to[x * channels + c] = sum_to_u8(sum);
    }
  }
}

inline void lerp_pixels(const uint8_t* from, uint8_t* to, const TapsPart& columns, int channels, int64_t begin,
                        int64_t end) {
  for (int64_t x = begin; x < end; ++x) {
    const uint8_t* const first = from + columns.first(x) * channels;
    const uint8_t* const second = first + (columns.count(x) == 2 ? channels : 0);
    const int32_t weight = *columns.fixed(x);
    for (int c = 0; c < channels; ++c) to[x * channels + c] = lerp(first[c], second[c], weight);
  }
}

inline void lerp_values(const uint8_t* first, const uint8_t* second, int32_t weight, uint8_t* to, int64_t values) {
  for (int64_t i = 0; i < values; ++i) to[i] = lerp(first[i], second[i], weight);
}

template <int kChannels, class T>
void take_pixels(const T* from, T* to, const TapsPart& columns) {
  // Not by columns.first(x): for all that the compiler knows, bytes that are copied change it.
  const int32_t* const first = columns.taps->first.data() + columns.begin;
  const int64_t size = columns.size, shift = columns.shift;
  for (int64_t x = 0; x < size; ++x, to += kChannels)
    std::memcpy(to, from + (first[x] - shift) * kChannels, kChannels * sizeof(T));
}

template <class T>
void take_pixels(const T* from, T* to, const TapsPart& columns, int channels) {
  if (channels == 1) return take_pixels<1>(from, to, columns);
  if (channels == 2) return take_pixels<2>(from, to, columns);
  if (channels == 3) return take_pixels<3>(from, to, columns);
  take_pixels<4>(from, to, columns);
}

/// The same, by words that also have bytes of the next pixel, which is written after them.
template <int kChannels>
void take_words(const uint8_t* from, int64_t end, uint8_t* to, const TapsPart& columns) {
  constexpr auto kWord = static_cast<int64_t>(std::bit_ceil(static_cast<unsigned>(kChannels)));
  for (int64_t x = 0; x < columns.size; ++x, to += kChannels) {
    const int64_t first = columns.first(x) * kChannels;
    if (kWord == kChannels || (first + kWord <= end && x + 1 < columns.size)) {
      std::memcpy(to, from + first, kWord);
    } else {
      std::memcpy(to, from + first, kChannels);
    }
  }
}

inline void take_words(const uint8_t* from, int64_t end, uint8_t* to, const TapsPart& columns, int channels) {
  if (channels == 1) return take_words<1>(from, end, to, columns);
  if (channels == 2) return take_words<2>(from, end, to, columns);
  if (channels == 3) return take_words<3>(from, end, to, columns);
  take_words<4>(from, end, to, columns);
}

inline void sum_values(const uint8_t* const* rows, const int32_t* weights, int64_t count, uint8_t* to, int64_t begin,
                       int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    int32_t sum = kHalfWeight;
    for (int64_t j = 0; j < count; ++j) sum += rows[j][i] * weights[j];
    to[i] = sum_to_u8(sum);
  }
}

/// Pixels of the result from `begin` on.
template <class T>
void reverse_pixels(const T* from, T* to, int64_t pixels, int channels, int64_t begin) {
  for (int64_t x = begin; x < pixels; ++x) {
    for (int c = 0; c < channels; ++c) to[x * channels + c] = from[(pixels - 1 - x) * channels + c];
  }
}

/// For 1 to 4 channels: where the values of a vector's last whole pixels lie that are its first ones when reversed.
template <class T, int kLanes>
constexpr std::array<std::array<T, kLanes>, 4> reversed_lanes() {
  std::array<std::array<T, kLanes>, 4> all = {};
  for (int channels = 1; channels <= 4; ++channels) {
    for (int i = 0; i < kLanes / channels * channels; ++i) {
      all[static_cast<size_t>(channels - 1)][static_cast<size_t>(i)] =
          static_cast<T>(kLanes - (i / channels + 1) * channels + i % channels);
    }
  }
  return all;
}

}  // namespace headpond::resize_internal

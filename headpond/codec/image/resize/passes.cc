// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "headpond/codec/image/resize/passes_internal.h"

namespace headpond::resize_internal {
namespace {

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

uint8_t to_u8(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255)); }

uint8_t lerp(int32_t a, int32_t b, int32_t weight) {
  return static_cast<uint8_t>(a + (((b - a) * weight + (1 << (kLerpBits - 1))) >> kLerpBits));
}

template <class T>
void take_columns(const T* from, T* to, const TapsPart& columns, int channels) {
  for (int64_t x = 0; x < columns.size; ++x, to += channels)
    std::copy_n(from + columns.first(x) * channels, channels, to);
}

void lerp_columns(const uint8_t* from, uint8_t* to, const TapsPart& columns, int channels) {
  for (int64_t x = 0; x < columns.size; ++x, to += channels) {
    const uint8_t* const first = from + columns.first(x) * channels;
    const uint8_t* const second = first + (columns.count(x) == 2 ? channels : 0);
    const int32_t weight = *columns.fixed(x);
    for (int c = 0; c < channels; ++c) to[c] = lerp(first[c], second[c], weight);
  }
}

template <int kChannels>
void sum_columns(const uint8_t* from, uint8_t* to, const TapsPart& columns) {
  for (int64_t x = 0; x < columns.size; ++x, to += kChannels) {
    const uint8_t* pixel = from + columns.first(x) * kChannels;
    const int32_t* const weights = columns.fixed(x);
    const int64_t count = columns.count(x);
    int32_t sums[kChannels];
    std::fill_n(sums, kChannels, kHalf);
    for (int64_t j = 0; j < count; ++j, pixel += kChannels) {
      for (int c = 0; c < kChannels; ++c) sums[c] += pixel[c] * weights[j];
    }
    for (int c = 0; c < kChannels; ++c) to[c] = to_u8(sums[c]);
  }
}

}  // namespace

void horizontal_pass(const uint8_t* from, uint8_t* to, const TapsPart& columns, int channels) {
  if (columns.taps->key.is_nearest()) return take_columns(from, to, columns, channels);
  if (columns.taps->key.is_lerp()) return lerp_columns(from, to, columns, channels);
  if (channels == 1) return sum_columns<1>(from, to, columns);
  if (channels == 2) return sum_columns<2>(from, to, columns);
  if (channels == 3) return sum_columns<3>(from, to, columns);
  sum_columns<4>(from, to, columns);
}

void horizontal_pass(const float* from, float* to, const TapsPart& columns, int channels) {
  if (columns.taps->key.is_nearest()) return take_columns(from, to, columns, channels);
  for (int64_t x = 0; x < columns.size; ++x, to += channels) {
    const float* const pixel = from + columns.first(x) * channels;
    const double* const weights = columns.exact(x);
    const int64_t count = columns.count(x);
    for (int c = 0; c < channels; ++c) {
      double sum = 0;
      for (int64_t j = 0; j < count; ++j) sum += static_cast<double>(pixel[j * channels + c]) * weights[j];
      to[c] = static_cast<float>(sum);
    }
  }
}

void vertical_pass(const uint8_t* const* rows, const int32_t* weights, int64_t count, uint8_t* to, int64_t values) {
  for (int64_t i = 0; i < values; ++i) {
    int32_t sum = kHalf;
    for (int64_t j = 0; j < count; ++j) sum += rows[j][i] * weights[j];
    to[i] = to_u8(sum);
  }
}

void vertical_pass(const float* const* rows, const double* weights, int64_t count, float* to, int64_t values) {
  for (int64_t i = 0; i < values; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < count; ++j) sum += static_cast<double>(rows[j][i]) * weights[j];
    to[i] = static_cast<float>(sum);
  }
}

void lerp_pass(const uint8_t* first, const uint8_t* second, int32_t weight, uint8_t* to, int64_t values) {
  for (int64_t i = 0; i < values; ++i) to[i] = lerp(first[i], second[i], weight);
}

}  // namespace headpond::resize_internal

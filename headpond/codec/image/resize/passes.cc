// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "headpond/codec/image/resize/passes_internal.h"

namespace headpond::resize_internal {
namespace {

template <class T>
void take_pixels(const T* from, T* to, const TapsPart& columns, int channels) {
  for (int64_t x = 0; x < columns.size; ++x, to += channels)
    std::copy_n(from + columns.first(x) * channels, channels, to);
}

constexpr int64_t kGroup = 32;   // Values of a vector.
constexpr int64_t kWindow = 64;  // Bytes.

// How many bytes the sources of `step` values have, at most; beside them up to 32 - step values that are not needed.
int64_t widest(const TapsPart& columns, int channels, int64_t step) {
  int64_t most = 0;
  for (int64_t begin = 0; begin < columns.size * channels; begin += step) {
    const int64_t first = columns.first(begin / channels);
    const int64_t last = columns.first(std::min((begin + step - 1) / channels, columns.size - 1));
    most = std::max(most, (std::abs(last - first) + 2) * channels);
  }
  return most;
}

}  // namespace

void LerpPlan::make(const TapsPart& columns, int channels) {
  step = 0;
  for (const int64_t possible : {kGroup, kGroup / 2, kGroup / 4}) {
    if (widest(columns, channels, possible) > kWindow) continue;
    step = possible;
    break;
  }
  if (step == 0) return;
  const int64_t values = columns.size * channels;
  const int64_t groups = (values + step - 1) / step;
  bases.resize(static_cast<size_t>(groups));
  places.assign(static_cast<size_t>(groups * kGroup), 0);
  weights.assign(static_cast<size_t>(groups * kGroup), 0);
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t begin = group * step, end = std::min(begin + step, values);
    const int64_t base = std::min(columns.first(begin / channels), columns.first((end - 1) / channels)) * channels;
    bases[static_cast<size_t>(group)] = static_cast<int32_t>(base);
    for (int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<size_t>(group * kGroup + i - begin);
      places[at] = static_cast<int16_t>(columns.first(i / channels) * channels + i % channels - base);
      weights[at] = static_cast<int16_t>(*columns.fixed(i / channels));
    }
  }
}

void take_columns(const uint8_t* from, uint8_t* to, const TapsPart& columns, int channels) {
  take_pixels(from, to, columns, channels);
}

void take_columns(const float* from, float* to, const TapsPart& columns, int channels) {
  take_pixels(from, to, columns, channels);
}

void sum_columns(const float* from, float* to, const TapsPart& columns, int channels) {
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

void sum_rows(const float* const* rows, const double* weights, int64_t count, float* to, int64_t values) {
  for (int64_t i = 0; i < values; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < count; ++j) sum += static_cast<double>(rows[j][i]) * weights[j];
    to[i] = static_cast<float>(sum);
  }
}

}  // namespace headpond::resize_internal

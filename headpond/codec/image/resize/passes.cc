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

constexpr int64_t kWindow = 64;  // Bytes.

int64_t base_of(const TapsPart& columns, int channels, int64_t begin, int64_t end) {
  return std::min(columns.first(begin / channels), columns.first((end - 1) / channels)) * channels;
}

// The most bytes that the sources of `step` values have, if each value has `taps` of them.
int64_t widest(const TapsPart& columns, int channels, int64_t step, int64_t taps) {
  int64_t most = 0;
  for (int64_t begin = 0; begin < columns.size * channels; begin += step) {
    const int64_t end = std::min(begin + step, columns.size * channels);
    const int64_t first = columns.first(begin / channels), last = columns.first((end - 1) / channels);
    most = std::max(most, (std::abs(last - first) + taps) * channels);
  }
  return most;
}

int64_t step_for(const TapsPart& columns, int channels, int64_t lanes, int64_t taps) {
  for (const int64_t step : {lanes, lanes / 2, lanes / 4}) {
    if (widest(columns, channels, step, taps) <= kWindow) return step;
  }
  return 0;
}

}  // namespace

void ColumnPlan::make(const TapsPart& columns, int channels) {
  columns.taps->key.is_lerp() ? make_lerps(columns, channels) : make_sums(columns, channels);
}

void ColumnPlan::make_lerps(const TapsPart& columns, int channels) {
  constexpr int64_t kLanes = 32;
  step = step_for(columns, channels, kLanes, 2);
  if (step == 0) return;
  const int64_t values = columns.size * channels, groups = (values + step - 1) / step;
  bases.clear();
  places.assign(static_cast<size_t>(groups * kLanes), 0);
  weights.assign(static_cast<size_t>(groups * kLanes), 0);
  for (int64_t begin = 0; begin < values; begin += step) {
    const int64_t end = std::min(begin + step, values), base = base_of(columns, channels, begin, end);
    auto at = bases.size() * kLanes;
    bases.push_back(static_cast<int32_t>(base));
    for (int64_t i = begin; i < end; ++i, ++at) {
      places[at] = static_cast<uint16_t>(columns.first(i / channels) * channels + i % channels - base);
      weights[at] = static_cast<int16_t>(*columns.fixed(i / channels));
    }
  }
}

void ColumnPlan::make_sums(const TapsPart& columns, int channels) {
  constexpr int64_t kLanes = 16;
  const Taps& taps = *columns.taps;
  step = step_for(columns, channels, kLanes, 2 * taps.pairs);
  if (step == 0) return;
  const int64_t values = columns.size * channels, groups = (values + step - 1) / step;
  bases.clear();
  pairs.assign(static_cast<size_t>(groups * kLanes), 0);
  low.assign(static_cast<size_t>(groups * taps.pairs * kLanes), 0);
  high.assign(low.size(), 0);
  for (int64_t begin = 0; begin < values; begin += step) {
    const int64_t end = std::min(begin + step, values), base = base_of(columns, channels, begin, end);
    auto at = bases.size() * kLanes;
    bases.push_back(static_cast<int32_t>(base));
    for (int64_t i = begin; i < end; ++i, ++at) {
      const auto place = static_cast<uint32_t>(columns.first(i / channels) * channels + i % channels - base);
      pairs[at] = place | (place + static_cast<uint32_t>(channels)) << 16;
    }
    for (int64_t pair = 0; pair < taps.pairs; ++pair) {
      const int64_t from = pair * taps.key.out + columns.begin;
      auto to = (bases.size() - 1) * static_cast<size_t>(taps.pairs * kLanes) + static_cast<size_t>(pair * kLanes);
      for (int64_t i = begin; i < end; ++i, ++to) {
        low[to] = taps.low[static_cast<size_t>(from + i / channels)];
        high[to] = taps.high[static_cast<size_t>(from + i / channels)];
      }
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

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "headpond/base/math/portable.h"
#include "headpond/codec/image/resize/taps_internal.h"

namespace headpond {
namespace {

using resize_internal::Taps;
using resize_internal::TapsKey;

double sinc(double x) {
  if (x == 0) return 1;
  x *= std::numbers::pi;
  return portable::sin(x) / x;
}

double bicubic(double x) {
  constexpr double kA = -0.5;
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * kA : 0;
}

double weight_at(ResizeFilter filter, double x) {
  if (filter == ResizeFilter::box) return x > -0.5 && x <= 0.5 ? 1 : 0;
  const double size = std::abs(x);
  if (filter == ResizeFilter::bilinear) return size < 1 ? 1 - size : 0;
  if (filter == ResizeFilter::bicubic) return bicubic(size);
  return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
}

double support_of(ResizeFilter filter) {
  switch (filter) {
    case ResizeFilter::box:
      return 0.5;
    case ResizeFilter::bilinear:
      return 1;
    case ResizeFilter::bicubic:
      return 2;
    default:
      return 3;
  }
}

// One pixel of the result: its source pixels from `first` on. Weights have the sum 1.
struct Window {
  int64_t first = 0;
  std::vector<double> weights;

  void divide_by_sum() {
    double sum = 0;
    for (const double weight : weights) sum += weight;
    if (sum == 0) return;
    for (double& weight : weights) weight /= sum;
  }
};

// The order of these operations gives Pillow's bits.
template <ResizeFilter kFilter>
void filter_window(const TapsKey& key, double scale, int64_t i, Window& window) {
  const double stretch = key.options.antialias ? std::max(scale, 1.0) : 1.0;
  const double support = support_of(kFilter) * stretch;
  const double center = (static_cast<double>(i) + 0.5) * scale;
  const double shrink = 1.0 / stretch;
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): as Pillow cuts.
  const auto first = static_cast<int64_t>(center - support + 0.5);
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): as Pillow cuts.
  const auto end = static_cast<int64_t>(center + support + 0.5);
  window.first = std::clamp<int64_t>(first, 0, key.in - 1);
  const int64_t count = std::max<int64_t>(std::min(end, key.in) - window.first, 1);
  window.weights.resize(static_cast<size_t>(count));
  for (int64_t j = 0; j < count; ++j) {
    const double x = (static_cast<double>(j + window.first) - center + 0.5) * shrink;
    window.weights[static_cast<size_t>(j)] = weight_at(kFilter, x);
  }
  window.divide_by_sum();
}

void area_window(const TapsKey& key, double scale, int64_t i, Window& window) {
  const double begin = static_cast<double>(i) * scale;
  const double end = std::min(begin + scale, static_cast<double>(key.in));
  window.first = std::clamp<int64_t>(static_cast<int64_t>(begin), 0, key.in - 1);
  window.weights.clear();
  for (int64_t s = window.first; s < key.in && static_cast<double>(s) < end; ++s) {
    const double left = std::max(begin, static_cast<double>(s));
    window.weights.push_back(std::max(std::min(end, static_cast<double>(s + 1)) - left, 0.0));
  }
  if (window.weights.empty()) window.weights.push_back(1);
  window.divide_by_sum();
}

void (*window_of(ResizeFilter filter))(const TapsKey&, double, int64_t, Window&) {
  switch (filter) {
    case ResizeFilter::area:
      return area_window;
    case ResizeFilter::box:
      return filter_window<ResizeFilter::box>;
    case ResizeFilter::bilinear:
      return filter_window<ResizeFilter::bilinear>;
    case ResizeFilter::bicubic:
      return filter_window<ResizeFilter::bicubic>;
    default:
      return filter_window<ResizeFilter::lanczos>;
  }
}

// Pillow adds the scale again and again.
void nearest_taps(Taps& taps, double scale) {
  double at = scale * 0.5;
  for (int64_t i = 0; i < taps.key.out; ++i, at += scale) {
    taps.first.push_back(static_cast<int32_t>(std::min(static_cast<int64_t>(at), taps.key.in - 1)));
  }
}

void lerp_taps(Taps& taps, double scale) {
  taps.stride = 1;
  const auto size = static_cast<size_t>(taps.key.out);
  taps.first.resize(size);
  taps.fixed.resize(size);
  const auto last = static_cast<int32_t>(taps.key.in - 1);
  for (size_t i = 0; i < size; ++i) {
    const double at = std::max((static_cast<double>(static_cast<int32_t>(i)) + 0.5) * scale - 0.5, 0.0);
    const auto first = static_cast<int32_t>(at);
    // NOLINTNEXTLINE(bugprone-incorrect-roundings): half up, the same bits everywhere.
    const auto weight = static_cast<int32_t>((at - static_cast<double>(first)) * 32768 + 0.5);
    taps.first[i] = std::min(first, last);
    taps.fixed[i] = first < last ? std::min(weight, 32767) : 0;
  }
}

int32_t to_fixed(double weight) {
  const double scaled = weight * (1 << resize_internal::kWeightBits);
  return static_cast<int32_t>(weight < 0 ? scaled - 0.5 : scaled + 0.5);
}

void sum_taps(Taps& taps, double scale) {
  const bool is_area = taps.key.options.filter == ResizeFilter::area;
  const double stretch = taps.key.options.antialias || is_area ? std::max(scale, 1.0) : 1.0;
  const double reach = is_area ? 1 + stretch / 2 : support_of(taps.key.options.filter) * stretch;
  taps.stride = std::min(static_cast<int64_t>(std::ceil(reach)) * 2 + 1, taps.key.in);
  const auto values = static_cast<size_t>(taps.stride * taps.key.out);
  const bool is_fixed = taps.key.dtype == DType::u8;
  if (is_fixed) {
    taps.fixed.assign(values, 0);
  } else {
    taps.exact.assign(values, 0);
  }
  Window window;
  const auto make_window = window_of(taps.key.options.filter);
  for (int64_t i = 0; i < taps.key.out; ++i) {
    make_window(taps.key, scale, i, window);
    taps.first.push_back(static_cast<int32_t>(window.first));
    taps.count.push_back(static_cast<int32_t>(window.weights.size()));
    for (size_t j = 0; j < window.weights.size(); ++j) {
      const size_t at = static_cast<size_t>(i * taps.stride) + j;
      if (is_fixed) {
        taps.fixed[at] = to_fixed(window.weights[j]);
      } else {
        taps.exact[at] = window.weights[j];
      }
    }
  }
}

template <class T>
void reverse_rows(std::vector<T>& values, int64_t rows) {
  const auto width = static_cast<std::ptrdiff_t>(values.size()) / rows;
  for (int64_t i = 0; i < rows / 2; ++i) {
    std::swap_ranges(values.begin() + i * width, values.begin() + (i + 1) * width,
                     values.begin() + (rows - 1 - i) * width);
  }
}

}  // namespace

Taps resize_internal::make_taps(const TapsKey& key) {
  Taps taps;
  taps.key = key;
  const double scale = static_cast<double>(key.in) / static_cast<double>(key.out);
  taps.first.reserve(static_cast<size_t>(key.out));
  if (!key.is_nearest() && !key.is_lerp()) taps.count.reserve(static_cast<size_t>(key.out));
  if (key.is_nearest()) {
    nearest_taps(taps, scale);
  } else if (key.is_lerp()) {
    lerp_taps(taps, scale);
  } else {
    sum_taps(taps, scale);
  }
  if (key.reversed) {
    reverse_rows(taps.first, key.out);
    reverse_rows(taps.count, key.out);
    reverse_rows(taps.fixed, key.out);
    reverse_rows(taps.exact, key.out);
  }
  return taps;
}

// Neither begins nor ends of the pixels' windows ever go back, or never forth in a reversed table.
int64_t resize_internal::TapsPart::from() const { return std::min(first(0), first(size - 1)); }

int64_t resize_internal::TapsPart::to() const {
  return std::max(first(0) + count(0), first(size - 1) + count(size - 1));
}

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/levels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "headpond/codec/image/color/color_internal.h"
#include "headpond/codec/image/color/level_rows_internal.h"

namespace headpond {
namespace {

using namespace color_internal;

using Tables = std::array<Table, kMostChannels>;

// Each value by itself: `of_byte` on u8, `of_float` on f32.
template <class OfByte, class OfFloat>
void each_value(const Tensor& image, std::byte* out, OfByte of_byte, OfFloat of_float) {
  if (image.dtype() == DType::u8) {
    look_up(image.as<uint8_t>(), reinterpret_cast<uint8_t*>(out), table_of(of_byte));
    return;
  }
  const auto in = image.as<float>();
  auto* const to = reinterpret_cast<float*>(out);
  for (size_t i = 0; i < in.size(); ++i) to[i] = of_float(in[i]);
}

Table unchanged() {
  return table_of([](uint8_t value) { return value; });
}

using Histogram = std::array<uint64_t, 256>;

// The pixels of the largest value that occurs do not count: they become 255 in any case.
Table equalizing(const Histogram& count, uint64_t pixels) {
  const auto last = std::find_if(count.rbegin(), count.rend(), [](uint64_t number) { return number != 0; });
  const uint64_t step = last == count.rend() ? 0 : (pixels - *last) / 255;
  if (step == 0) return unchanged();
  Table table{};
  uint64_t below = step / 2;
  for (size_t value = 0; value < table.size(); ++value) {
    table[value] = static_cast<uint8_t>(std::min<uint64_t>(below / step, 255));
    below += count[value];
  }
  return table;
}

template <class T>
Tables equalizing_tables(std::span<const T> in, size_t channels) {
  std::array<Histogram, kMostChannels> counts{};
  for (size_t i = 0; i < in.size(); i += channels) {
    for (size_t c = 0; c < channels; ++c) {
      if constexpr (sizeof(T) == 1) {
        ++counts[c][in[i + c]];
      } else {
        ++counts[c][unit_to_u8(in[i + c])];
      }
    }
  }
  Tables tables{};
  for (size_t c = 0; c < channels; ++c) tables[c] = equalizing(counts[c], in.size() / channels);
  return tables;
}

void stretch(std::span<const uint8_t> in, uint8_t* out, size_t channels) {
  std::array<ValueRange<uint8_t>, kMostChannels> ranges;
  level_rows().range_u8(in.data(), in.size(), channels, ranges.data());
  Tables tables{};
  for (size_t c = 0; c < channels; ++c) {
    const int32_t low = ranges[c].low, high = ranges[c].high;
    tables[c] = low == high ? unchanged() : table_of([=](uint8_t value) {
      return static_cast<uint8_t>(std::clamp((value - low) * 255 / (high - low), 0, 255));
    });
  }
  look_up_channels(in, out, std::span(tables).first(channels));
}

void stretch(std::span<const float> in, float* out, size_t channels) {
  std::array<ValueRange<float>, kMostChannels> ranges;
  level_rows().range_f32(in.data(), in.size(), channels, ranges.data());
  for (size_t c = 0; c < channels; ++c) {
    if (ranges[c].low == ranges[c].high) ranges[c] = {0, 1};
  }
  level_rows().stretch_f32(in.data(), out, in.size(), channels, ranges.data());
}

}  // namespace

Result<void> invert(const Tensor& image, std::byte* out) {
  if (auto fits = check_image("invert", image, Channels::any); !fits) return fits;
  each_value(
      image, out, [](uint8_t value) { return static_cast<uint8_t>(255 - value); },
      [](float value) { return 1 - value; });
  return {};
}

Result<void> solarize(const Tensor& image, std::byte* out, double threshold) {
  if (auto fits = check_image("solarize", image, Channels::any); !fits) return fits;
  const double most = image.dtype() == DType::u8 ? 255 : 1;
  if (auto fits = check_range("solarize", "threshold", threshold, -kLargest, most); !fits) return fits;
  each_value(
      image, out, [&](uint8_t value) { return value >= threshold ? static_cast<uint8_t>(255 - value) : value; },
      [least = static_cast<float>(threshold)](float value) { return value >= least ? 1 - value : value; });
  return {};
}

Result<void> posterize(const Tensor& image, std::byte* out, int bits) {
  if (auto fits = check_image("posterize", image, Channels::any); !fits) return fits;
  if (auto fits = check_range("posterize", "bits", bits, 0, 8); !fits) return fits;
  const int lost = 8 - bits;
  const auto levels = static_cast<float>(1 << bits);
  each_value(
      image, out, [&](uint8_t value) { return static_cast<uint8_t>(value >> lost << lost); },
      [&](float value) { return std::clamp(std::floor(value * levels), 0.0F, levels - 1) * (1 / levels); });
  return {};
}

Result<void> equalize(const Tensor& image, std::byte* out) {
  if (auto fits = check_image("equalize", image, Channels::any); !fits) return fits;
  const auto channels = static_cast<size_t>(image.dim(2));
  if (image.dtype() == DType::u8) {
    const Tables tables = equalizing_tables(image.as<uint8_t>(), channels);
    look_up_channels(image.as<uint8_t>(), reinterpret_cast<uint8_t*>(out), std::span(tables).first(channels));
    return {};
  }
  const auto in = image.as<float>();
  const Tables tables = equalizing_tables(in, channels);
  auto* const to = reinterpret_cast<float*>(out);
  for (size_t i = 0; i < in.size(); ++i) {
    to[i] = static_cast<float>(tables[i % channels][unit_to_u8(in[i])]) * static_cast<float>(1.0 / 255);
  }
  return {};
}

Result<void> autocontrast(const Tensor& image, std::byte* out) {
  if (auto fits = check_image("autocontrast", image, Channels::any); !fits || image.size() == 0) return fits;
  const auto channels = static_cast<size_t>(image.dim(2));
  if (image.dtype() == DType::u8) {
    stretch(image.as<uint8_t>(), reinterpret_cast<uint8_t*>(out), channels);
  } else {
    stretch(image.as<float>(), reinterpret_cast<float*>(out), channels);
  }
  return {};
}

}  // namespace headpond

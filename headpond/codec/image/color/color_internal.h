// SPDX-License-Identifier: Apache-2.0
// What the functions that change colours share: checks of images, tables of 256 values, rounding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond::color_internal {

enum class Channels : uint8_t { any, grey_or_rgb };  ///< 1 to 4, or 1 or 3.

/// InvalidArgument, beginning with `op`, unless `image` is u8 or f32 [height, width, channels].
Result<void> check_image(std::string_view op, const Tensor& image, Channels channels);
/// The same for a field whose dimensions may be unknown; throws Exception.
void check_field(std::string_view op, const FieldSpec& image, Channels channels);
/// InvalidArgument unless low <= value <= high, so also for NaN.
Result<void> check_range(std::string_view op, std::string_view option, double value, double low, double high);
/// The largest factor that has a meaning: larger ones are refused.
inline constexpr double kLargest = 1e30;

/// Rounded down, within 0 to 255; 0 for NaN.
template <class Float>
uint8_t to_u8(Float value) {
  if (!(value > 0)) return 0;
  return value >= 255 ? uint8_t{255} : static_cast<uint8_t>(value);
}
/// Within [0, 1]; NaN stays.
inline float to_unit(float value) { return value < 0 ? 0.0F : value > 1 ? 1.0F : value; }
/// A value in [0, 1] as one of 256, as torchvision's to_dtype(uint8, scale=True).
template <class Float>
uint8_t unit_to_u8(Float value) {
  return to_u8(value * static_cast<Float>(255.999));
}

using Table = std::array<uint8_t, 256>;
template <class Function>
Table table_of(Function function) {
  Table table{};
  for (size_t value = 0; value < table.size(); ++value) table[value] = function(static_cast<uint8_t>(value));
  return table;
}
void look_up(std::span<const uint8_t> in, uint8_t* out, const Table& table);
/// A table for each channel.
void look_up_channels(std::span<const uint8_t> in, uint8_t* out, std::span<const Table> tables);

/// The brightness of a pixel: png.h's formula; for float the same weights.
inline constexpr int32_t kRed = 19595, kGreen = 38470, kBlue = 7471;
inline int32_t grey_of(const uint8_t* rgb) { return (kRed * rgb[0] + kGreen * rgb[1] + kBlue * rgb[2] + 32768) >> 16; }
inline float grey_of(const float* rgb) {
  constexpr float kScale = 0x1p-16F;
  return static_cast<float>(kRed) * kScale * rgb[0] + static_cast<float>(kGreen) * kScale * rgb[1] +
         static_cast<float>(kBlue) * kScale * rgb[2];
}

/// Fixed point of blend(): 14 bits. From 512 on each difference of 1 passes 255, so larger factors are equal to it.
// NOLINTNEXTLINE(bugprone-incorrect-roundings): half up, the same bits everywhere.
inline int32_t blend_factor(double factor) { return static_cast<int32_t>((factor < 512 ? factor : 512) * 16384 + 0.5); }
/// Makes up for the rounding of a factor, at most 127.5: a difference times it may be a whole number.
inline constexpr int32_t kBlendBias = 128;
/// other + (value - other) * factor + 1/128, rounded down, within 0 to 255.
inline uint8_t blend(int32_t value, int32_t other, int32_t factor) {
  const int32_t sum = other + (((value - other) * factor + kBlendBias) >> 14);
  return static_cast<uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

}  // namespace headpond::color_internal

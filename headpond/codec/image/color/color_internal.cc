// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/color_internal.h"

#include <fmt/format.h>

#include "headpond/codec/image/color/look_up_internal.h"

namespace headpond::color_internal {
namespace {

constexpr std::string_view text_of(Channels channels) { return channels == Channels::any ? "1 to 4" : "1 or 3"; }

bool admits(Channels channels, int64_t number) {
  if (channels == Channels::grey_or_rgb) return number == 1 || number == 3;
  return number >= 1 && number <= 4;
}

std::string expected(std::string_view op, Channels channels, DType dtype, const Shape& shape) {
  return fmt::format("{}: takes uint8 or float32 [height, width, {} channels], not {}{}", op, text_of(channels),
                     name(dtype), shape.to_string());
}

}  // namespace

Result<void> check_image(std::string_view op, const Tensor& image, Channels channels) {
  const bool fits = (image.dtype() == DType::u8 || image.dtype() == DType::f32) && image.rank() == 3 &&
                    admits(channels, image.dim(2));
  if (fits) return {};
  return fail(ErrorKind::InvalidArgument, expected(op, channels, image.dtype(), image.shape()));
}

void check_field(std::string_view op, const FieldSpec& image, Channels channels) {
  const bool fits = (image.dtype == DType::u8 || image.dtype == DType::f32) && image.shape.rank() == 3 &&
                    (image.shape[2] == kUnknown || admits(channels, image.shape[2]));
  if (fits) return;
  throw Exception(Error(ErrorKind::InvalidArgument, expected(op, channels, image.dtype, image.shape)));
}

Result<void> check_range(std::string_view op, std::string_view option, double value, double low, double high) {
  if (value >= low && value <= high) return {};
  return fail(ErrorKind::InvalidArgument, fmt::format("{}: {} must be {} to {}, not {}", op, option, low, high, value));
}

void look_up(std::span<const uint8_t> in, uint8_t* out, const Table& table) {
  best_look_up().all(in.data(), out, in.size(), table.data());
}

static_assert(sizeof(Table) == 256);  // by_channel takes the tables as one array.
void look_up_channels(std::span<const uint8_t> in, uint8_t* out, std::span<const Table> tables) {
  best_look_up().by_channel(in.data(), out, in.size() / tables.size(), tables.size(), tables.front().data());
}

}  // namespace headpond::color_internal

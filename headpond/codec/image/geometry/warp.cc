// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/geometry/warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "headpond/codec/image/geometry/warp_fields_internal.h"
#include "headpond/codec/image/geometry/warp_rows_internal.h"

namespace headpond {
namespace {

using warp_internal::Picture;

Result<void> refuse_warp(const std::string& what) { return fail(ErrorKind::InvalidArgument, what); }

template <class T>
bool put(double value, std::byte* to) {
  if constexpr (std::is_integral_v<T>) {
    // The limits as doubles; the upper one of 64 bits is rounded up, and excluded.
    constexpr T kHalf = std::numeric_limits<T>::max() / 2;
    constexpr double kEnd = static_cast<double>(kHalf + 1) * 2;
    if (!(value >= static_cast<double>(std::numeric_limits<T>::min()) && value < kEnd)) return false;
    if (value != std::floor(value)) return false;
  } else {
    if (!(std::abs(value) <= static_cast<double>(std::numeric_limits<T>::max()))) return false;
  }
  const T typed = static_cast<T>(value);
  std::memcpy(to, &typed, sizeof(T));
  return true;
}

// A pixel of fill values; `to` has room for it.
Result<void> put_fill(DType dtype, int64_t channels, const WarpOptions& options, std::byte* to) {
  const size_t count = options.fill.size();
  if (count != 1 && count != static_cast<size_t>(channels)) {
    return refuse_warp(fmt::format("fill has {} values for {} channels", count, channels));
  }
  for (size_t i = 0; i < static_cast<size_t>(channels); ++i) {
    const double value = options.fill[count == 1 ? 0 : i];
    if (warp_internal::put_number(dtype, value, to + i * item_size(dtype))) continue;
    return refuse_warp(fmt::format("fill is {}: no value of {}", value, name(dtype)));
  }
  return {};
}

Result<Picture> picture_of(const Tensor& image) {
  if (image.dtype() == DType::bytes || image.rank() < 2 || image.rank() > 3) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("takes [height, width] or [height, width, channels] of numbers, not {}{}",
                            name(image.dtype()), image.shape().to_string()));
  }
  const int64_t channels = image.rank() == 3 ? image.dim(2) : 1;
  if (image.dim(0) > kMaxMovedSide || image.dim(1) > kMaxMovedSide || channels < 1 || channels > 4) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("an image of {}: sides of at most {} and 1 to 4 channels are expected",
                            image.shape().to_string(), kMaxMovedSide));
  }
  return Picture{.data = image.data(),
                 .height = image.dim(0),
                 .width = image.dim(1),
                 .channels = channels,
                 .pixel_bytes = static_cast<size_t>(channels) * item_size(image.dtype())};
}

// Steps of an affine map must fit their fixed point.
bool is_finite_map(const ImageMap& map) {
  for (size_t i = 0; i < map.to_image.size(); ++i) {
    const double limit = !map.is_affine() ? std::numeric_limits<double>::max()
                         : i % 3 == 2     ? 1e20
                                          : warp_internal::kMaxStep;
    if (!(std::abs(map.to_image[i]) <= limit)) return false;
  }
  return true;
}

Result<void> check_warp_map(const ImageMap& map) {
  const auto fits = [](int64_t side) { return side >= 0 && side <= kMaxMovedSide; };
  if (fits(map.height) && fits(map.width) && is_finite_map(map)) return {};
  return refuse_warp("the image cannot be moved: sides or a matrix out of range");
}

}  // namespace

bool warp_internal::put_number(DType dtype, double value, std::byte* to) {
  switch (dtype) {
    case DType::u8:
      return put<uint8_t>(value, to);
    case DType::i8:
      return put<int8_t>(value, to);
    case DType::u16:
      return put<uint16_t>(value, to);
    case DType::i16:
      return put<int16_t>(value, to);
    case DType::u32:
      return put<uint32_t>(value, to);
    case DType::i32:
      return put<int32_t>(value, to);
    case DType::u64:
      return put<uint64_t>(value, to);
    case DType::i64:
      return put<int64_t>(value, to);
    case DType::f32:
      return put<float>(value, to);
    case DType::f64:
      return put<double>(value, to);
    case DType::boolean:
      return (value == 0 || value == 1) && put<uint8_t>(value, to);
    case DType::f16:
    case DType::bf16:
      return value == 0 && put<uint16_t>(0, to);
    case DType::bytes:
      break;
  }
  return false;
}

std::string_view name(Interpolation interpolation) {
  return interpolation == Interpolation::nearest ? "nearest" : "bilinear";
}

Result<void> check_warp(DType dtype, int64_t channels, const WarpOptions& options) {
  if (options.interpolation == Interpolation::bilinear && dtype != DType::u8 && dtype != DType::f32) {
    return refuse_warp(fmt::format("bilinear takes uint8 or float32, not {}", name(dtype)));
  }
  if (channels > 4) return refuse_warp(fmt::format("{} channels: 1 to 4 channels are expected", channels));
  std::array<std::byte, warp_internal::kMaxPixelBytes> pixel;
  return put_fill(dtype, channels, options, pixel.data());
}

Result<void> warp_into(const Tensor& image, const ImageMap& map, const WarpOptions& options, std::byte* to) {
  auto picture = picture_of(image);
  if (!picture) return fail(picture.error());
  HEADPOND_TRY(check_warp_map(map));
  HEADPOND_TRY(check_warp(image.dtype(), picture->channels, options));
  if (map.is_identity(picture->height, picture->width)) {
    if (image.byte_size() > 0) std::memcpy(to, image.data(), image.byte_size());
    return {};
  }
  HEADPOND_TRY(put_fill(image.dtype(), picture->channels, options, picture->fill.data()));
  if (options.interpolation == Interpolation::nearest) {
    warp_internal::write_nearest(*picture, map, to);
  } else if (image.dtype() == DType::u8) {
    warp_internal::write_bilinear<uint8_t>(*picture, map, to);
  } else {
    warp_internal::write_bilinear<float>(*picture, map, to);
  }
  return {};
}

Result<Tensor> warp(const Tensor& image, const ImageMap& map, const WarpOptions& options) try {
  const auto picture = picture_of(image);
  if (!picture) return fail(picture.error());
  HEADPOND_TRY(check_warp_map(map));
  HEADPOND_TRY(check_warp(image.dtype(), picture->channels, options));
  if (map.is_identity(picture->height, picture->width)) return image;
  const Shape shape =
      image.rank() == 2 ? Shape{map.height, map.width} : Shape{map.height, map.width, picture->channels};
  Tensor result = Tensor::empty(image.dtype(), shape);
  HEADPOND_TRY(warp_into(image, map, options, result.mutable_data()));
  return result;
} catch (const std::exception&) {
  return fail(current_exception_error());
}

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/resize/resize.h"

#include <fmt/format.h>

#include <exception>

#include "headpond/codec/caught_internal.h"
#include "headpond/codec/image/resize/resize_rows_internal.h"

namespace headpond {
namespace {

Result<void> check_resize(const ImageView& image, int64_t height, int64_t width) {
  const auto is_side = [](int64_t side) { return side >= 1 && side <= kResizeMaxSide; };
  if (image.dtype != DType::u8 && image.dtype != DType::f32) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("an image of {}: uint8 or float32 was expected", name(image.dtype)));
  }
  if (image.channels < 1 || image.channels > 4) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("an image of {} channels: 1 to 4 were expected", image.channels));
  }
  if (is_side(image.height) && is_side(image.width) && is_side(height) && is_side(width)) return {};
  return fail(ErrorKind::InvalidArgument, fmt::format("{} x {} pixels can't become {} x {}: sides of 1 to {} can",
                                                      image.width, image.height, width, height, kResizeMaxSide));
}

}  // namespace

std::string_view name(ResizeFilter filter) {
  constexpr std::string_view kNames[] = {"nearest", "box", "bilinear", "bicubic", "lanczos", "area"};
  return kNames[static_cast<size_t>(filter)];
}

Result<void> resize_image(const ImageView& image, int64_t height, int64_t width, std::byte* to,
                          const ResizeOptions& options) try {
  using namespace resize_internal;
  HEADPOND_TRY(check_resize(image, height, width));
  const Taps rows = make_taps({image.height, height, options, image.dtype});
  const Taps columns = make_taps({image.width, width, options, image.dtype});
  ResizeScratch scratch;
  ResizeRows all(image, {&rows, 0, height}, {&columns, 0, width}, scratch);
  const size_t row_bytes = static_cast<size_t>(width * image.channels) * item_size(image.dtype);
  for (int64_t y = 0; y < height; ++y, to += row_bytes) all.next(to);
  return {};
} catch (const std::exception&) {
  return codec_internal::fail_caught("resize");
}

Result<Tensor> resize_image(const Tensor& image, int64_t height, int64_t width, const ResizeOptions& options) try {
  if (image.rank() != 2 && image.rank() != 3) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("an image of shape {}: [height, width, channels] was expected", image.shape().to_string()));
  }
  const int64_t channels = image.rank() == 3 ? image.dim(2) : 1;
  if (channels < 1 || channels > 4) {
    return fail(ErrorKind::InvalidArgument, fmt::format("an image of {} channels: 1 to 4 were expected", channels));
  }
  const int64_t row_bytes = image.dim(1) * channels * static_cast<int64_t>(item_size(image.dtype()));
  const ImageView view = {image.data(), image.dtype(), image.dim(0), image.dim(1), static_cast<int>(channels),
                          row_bytes};
  HEADPOND_TRY(check_resize(view, height, width));
  Tensor made = Tensor::empty(image.dtype(), image.rank() == 3 ? Shape{height, width, channels} : Shape{height, width});
  HEADPOND_TRY(resize_image(view, height, width, made.mutable_data(), options));
  return made;
} catch (const std::exception&) {
  return codec_internal::fail_caught("resize");
}

}  // namespace headpond

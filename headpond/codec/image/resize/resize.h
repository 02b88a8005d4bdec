// SPDX-License-Identifier: Apache-2.0
// Resizing of images. Pure functions, thread-safe; the same bytes on every machine.
//
// Method: two passes over the image, horizontal then vertical, each a weighted sum along one axis. With `antialias` the
// weights and the rounding are those of Pillow 9.4 (Image.resize; its Resample.c), so u8 images have Pillow's bytes:
// weights of 22 fraction bits, sums rounded to u8 after each pass. f32 images have those of Pillow's mode F: sums in
// double, in the order of the pixels, rounded to float after each pass. A pass that keeps its size is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// nearest: the pixel in the middle, as Pillow. box, bilinear, bicubic (a = -0.5), lanczos (3 lobes): Pillow's filters.
/// area: a pixel of the source weighs as much as the result's pixel covers of it: OpenCV's INTER_AREA within 1 where
/// both sides shrink.
enum class ResizeFilter : uint8_t { nearest, box, bilinear, bicubic, lanczos, area };
/// "bilinear".
std::string_view name(ResizeFilter filter);

struct ResizeOptions {
  ResizeFilter filter = ResizeFilter::bilinear;
  /// The filter grows with the factor by which the image shrinks, as in Pillow. Without it bilinear takes the two
  /// nearest pixels an axis, vertical first, with weights of 15 bits: OpenCV's INTER_LINEAR within 1. No difference for
  /// nearest and area.
  bool antialias = true;

  friend bool operator==(const ResizeOptions&, const ResizeOptions&) = default;
};

/// Borrowed pixels. Row y begins at data + y * row_bytes; its pixels are contiguous.
struct ImageView {
  const std::byte* data = nullptr;
  DType dtype = DType::u8;  ///< u8 or f32.
  int64_t height = 0;
  int64_t width = 0;
  int channels = 0;  ///< 1 to 4.
  int64_t row_bytes = 0;
};

/// The largest side of an image that is resized, and of a result.
inline constexpr int64_t kResizeMaxSide = int64_t{1} << 20;

/// Writes `height` x `width` pixels of the image's dtype and channels, row-major, to `to`. With f32 and a NaN or an
/// infinity the pixels whose filter covers it are not finite. A channel does not depend on the others: no alpha is
/// multiplied in. Beside the result it needs the rows of one filter after the horizontal pass.
/// InvalidArgument iff a side of the image or of the result is not 1 to kResizeMaxSide, or the dtype or the channels
/// are others.
Result<void> resize_image(const ImageView& image, int64_t height, int64_t width, std::byte* to,
                          const ResizeOptions& options = {});

/// The same for u8 or f32 [height, width] and [height, width, channels]; the result has the same rank.
Result<Tensor> resize_image(const Tensor& image, int64_t height, int64_t width, const ResizeOptions& options = {});

}  // namespace headpond

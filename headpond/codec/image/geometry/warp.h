// SPDX-License-Identifier: Apache-2.0
// The pixels of a moved image. Pure functions, thread-safe; the same bytes on every machine.
//
// Method: for the middle of each pixel of the result, its position in the image. An affine map goes along a row in
// steps of 2^-32 pixels, so that a position is exact within 1/4,000 of a pixel even at the end of a row of a million
// pixels; a perspective divides in double. The position is then rounded to 16 fraction bits for nearest, and to 8,
// which are the weights, for bilinear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/codec/image/geometry/image_map.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// nearest: the pixel that the position lies in, the right or lower one on an edge. bilinear: the four pixels whose
/// middles are around it; those outside the image have the value of the fill.
enum class Interpolation : uint8_t { nearest, bilinear };
/// "nearest".
std::string_view name(Interpolation interpolation);

struct WarpOptions {
  Interpolation interpolation = Interpolation::nearest;
  /// Values of pixels that come from outside the image: one for all channels, or one for each.
  std::vector<double> fill = {0};
};

/// The largest side of an image that is moved, and of a result.
inline constexpr int64_t kMaxMovedSide = int64_t{1} << 28;

/// The image as `map` moves it: [map.height, map.width, channels], or without channels if the image has rank 2; the
/// image's dtype. A map that moves nothing gives the image itself. Nearest takes every dtype but bytes, bilinear u8
/// and f32. u8 of bilinear are rounded to the nearest; a pixel of f32 with weight 0 isn't read. Beside the result it
/// needs no memory.
/// InvalidArgument iff the image's dtype, rank or size is another, the number of fill values is neither 1 nor that of
/// the channels, or the dtype doesn't hold a fill value; for dtypes of 16-bit floats the fill must be 0.
Result<Tensor> warp(const Tensor& image, const ImageMap& map, const WarpOptions& options = {});

/// The same into memory for the result, other than the image's. REQUIRES: `to` has the bytes of the result, aligned.
Result<void> warp_into(const Tensor& image, const ImageMap& map, const WarpOptions& options, std::byte* to);

/// The error of an image or of fill values that warp() doesn't take.
Result<void> check_warp(DType dtype, int64_t channels, const WarpOptions& options);

}  // namespace headpond

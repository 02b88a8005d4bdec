// SPDX-License-Identifier: Apache-2.0
// Functions of a pixel and its neighbours: Gaussian blur and sharpness, as torchvision's. Images, `out` and errors:
// adjust.h, but `out` is other memory than the image's. 1 to 4 channels. Pure functions, thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// A size of the window of gaussian_blur() is odd, and at most this.
inline constexpr int64_t kLargestBlur = 255;

/// Memory that gaussian_blur() keeps from image to image: rows, about kernel_size[1] of them. One thread at a time.
struct BlurMemory {
  std::vector<std::byte> row;   ///< One row with its margins.
  std::vector<std::byte> rows;  ///< Blurred across.
};

/// Weights exp(-d^2 / (2 sigma^2)) of pixels at distance d, scaled to the sum 1, across and then down; kernel_size and
/// sigma are those of x and of y. Outside the image is its mirror image without the edge repeated, again and again if
/// the window is larger than the image. Of u8: weights of 16 bits, 8 fraction bits between the passes, rounded to the
/// nearest. sigma above 0. Throws std::bad_alloc.
Result<void> gaussian_blur(const Tensor& image, std::byte* out, std::array<int64_t, 2> kernel_size,
                           std::array<double, 2> sigma, BlurMemory& memory);

/// smooth + (value - smooth) factor, where smooth is the mean of 3 x 3 pixels in which the middle counts 5 times; of u8
/// rounded to the nearest, and the result down. Pixels at the edges stay. factor at least 0: 0 smooths, 1 changes
/// nothing, 2 sharpens.
Result<void> adjust_sharpness(const Tensor& image, std::byte* out, double factor);

}  // namespace headpond

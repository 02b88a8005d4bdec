// SPDX-License-Identifier: Apache-2.0
// Functions that give each value another one, whatever its neighbours: invert, solarize, posterize, equalize and
// autocontrast, as torchvision's functions of these names. Images, `out` and errors: adjust.h. 1 to 4 channels. Pure
// functions, thread-safe.
#pragma once

#include <cstddef>

#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// 255 - value; of f32 1 - value.
Result<void> invert(const Tensor& image, std::byte* out);

/// Inverts values of `threshold` or more. It is at most 255, of f32 at most 1.
Result<void> solarize(const Tensor& image, std::byte* out, double threshold);

/// Keeps the upper `bits` bits of each value, 0 to 8; of f32, rounds down to multiples of 2^-bits below 1.
Result<void> posterize(const Tensor& image, std::byte* out, int bits);

/// Gives each channel about as many pixels of each value, by Pillow's formula. A channel with fewer than 255 pixels
/// below its largest value stays as it is. f32 values are first cut to [0, 1] and become one of 256 levels.
Result<void> equalize(const Tensor& image, std::byte* out);

/// Stretches each channel so that its smallest value becomes 0 and its largest 255, of f32 1; of u8, rounded down. A
/// channel of one value stays as it is.
Result<void> autocontrast(const Tensor& image, std::byte* out);

}  // namespace headpond

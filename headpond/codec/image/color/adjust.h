// SPDX-License-Identifier: Apache-2.0
// Brightness, contrast, saturation, hue, gamma and grey of images, as torchvision's functions of these names. Pure
// functions, thread-safe; the same bits on every machine.
//
// An image is u8 [height, width, channels], or f32 with values in [0, 1]. 3 channels are red, green and blue. `out` is
// memory for the result: the image's dtype, aligned for it, its size unless said otherwise; it may be the image's own
// memory.
//
// InvalidArgument iff the image has another dtype, rank or number of channels, or an option is out of range.
#pragma once

#include <cstddef>

#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// Each value times `factor`, at least 0: 0 is black, 1 changes nothing. Results are cut to the range; of u8, rounded
/// down. 1 to 4 channels.
Result<void> adjust_brightness(const Tensor& image, std::byte* out, double factor);

/// Moves each value away from the mean grey of the image: mean + (value - mean) factor. 0 is a grey picture. The mean
/// is that of to_grayscale's values; of u8, rounded to the nearest whole number. Results as adjust_brightness(). 1 or 3
/// channels.
Result<void> adjust_contrast(const Tensor& image, std::byte* out, double factor);

/// Moves each value away from the grey of its pixel: grey + (value - grey) factor. 0 is a grey picture. Of u8, factors
/// are rounded to 14 bits, and results down after adding 1/128. 1 or 3 channels; one channel stays as it is.
Result<void> adjust_saturation(const Tensor& image, std::byte* out, double factor);

/// Turns the hue by `factor` of the circle, -0.5 to 0.5; maximum and minimum of a pixel stay. Of u8 the angle is
/// rounded to 1 / 393,216 of the circle, and results to the nearest: factor 0 changes nothing. 1 or 3 channels; one
/// channel stays as it is.
Result<void> adjust_hue(const Tensor& image, std::byte* out, double factor);

/// gain * value ^ gamma for values in [0, 1] (of u8 value / 255), cut to the range if `gain` is not 1. gamma at least
/// 0. Of u8, the result x becomes 255.999 x, rounded down. 1 to 4 channels. f32 values below 0 become NaN.
Result<void> adjust_gamma(const Tensor& image, std::byte* out, double gamma, double gain = 1);

/// The grey of 3 channels by the formula of png.h; f32 with weights 19595, 38470 and 7471 / 65536. One channel gives
/// its value. `out`: [height, width, output_channels], 1 or 3 equal ones; other memory than the image's, unless the
/// numbers of channels are equal.
Result<void> to_grayscale(const Tensor& image, std::byte* out, int output_channels = 1);

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// Kernels that change colours, for map: torchvision v2's names, arguments in its order, and defaults. Thread-safe.
//
// The image is u8 [height, width, channels], or f32 with values in [0, 1]; it keeps shape and dtype unless said
// otherwise. Other fields stay as they are. What each kernel does to pixels: adjust.h, levels.h and neighbours.h.
// Throw Exception(InvalidArgument) iff an option is out of range; so does building a map over a field that a kernel
// can't take.
//
// The random_ forms draw one word, also for p = 0 and 1: they change the image iff it is below p, as a number in [0,
// 1). They draw under their own name.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "headpond/tensor/kernel.h"

namespace headpond {

KernelRef adjust_brightness(double brightness_factor);
KernelRef adjust_contrast(double contrast_factor);
KernelRef adjust_saturation(double saturation_factor);
KernelRef adjust_hue(double hue_factor);
KernelRef adjust_gamma(double gamma, double gain = 1);
KernelRef adjust_sharpness(double sharpness_factor);
KernelRef random_adjust_sharpness(double sharpness_factor, double p = 0.5);

/// The image has num_output_channels afterwards, 1 or 3.
KernelRef grayscale(int num_output_channels = 1);
KernelRef to_grayscale(int num_output_channels = 1);  ///< The same kernel, by the name of torchvision's function.
/// Keeps the number of channels, 1 or 3.
KernelRef random_grayscale(double p = 0.1);

KernelRef invert();
KernelRef random_invert(double p = 0.5);
KernelRef solarize(double threshold);
KernelRef random_solarize(double threshold, double p = 0.5);
KernelRef posterize(int bits);
KernelRef random_posterize(int bits, double p = 0.5);
KernelRef equalize();
KernelRef random_equalize(double p = 0.5);
KernelRef autocontrast();
KernelRef random_autocontrast(double p = 0.5);

/// The range of a random number, or one number.
struct ValueRange {
  ValueRange(double value) : low(value), high(value) {}
  ValueRange(double least, double most) : low(least), high(most) {}
  double low, high;
};

/// kernel_size: odd, 1 to 255; two numbers are width and height. sigma: above 0; one word is drawn, which makes it
/// uniform in its range.
KernelRef gaussian_blur(int64_t kernel_size, ValueRange sigma = {0.1, 2.0});
KernelRef gaussian_blur(std::array<int64_t, 2> kernel_size, ValueRange sigma = {0.1, 2.0});

/// How much a factor varies: one number v for [max(0, 1 - v), 1 + v], of the hue [-v, v]; two for the range itself.
struct JitterRange {
  JitterRange(double spread) : low(spread) {}
  JitterRange(double least, double most) : low(least), high(most) {}
  double low;
  std::optional<double> high = {};
};

struct ColorJitterOptions {
  std::optional<JitterRange> brightness = {};  ///< At least 0, as the next two.
  std::optional<JitterRange> contrast = {};
  std::optional<JitterRange> saturation = {};
  std::optional<JitterRange> hue = {};  ///< Within [-0.5, 0.5].
};

/// Changes brightness, contrast, saturation and hue, each if it has a range, in a random order; uniform factors. Draws
/// five words: the order, and the factors in the order of the options, also of those without a range. 1 or 3 channels.
KernelRef color_jitter(const ColorJitterOptions& options);

}  // namespace headpond

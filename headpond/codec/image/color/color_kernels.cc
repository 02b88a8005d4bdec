// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/color_kernels.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "headpond/codec/image/color/adjust.h"
#include "headpond/codec/image/color/image_kernel_internal.h"
#include "headpond/codec/image/color/levels.h"
#include "headpond/codec/image/color/neighbours.h"

namespace headpond {
namespace {

using color_internal::Channels;
using color_internal::image_kernel;
using color_internal::ImageFunction;
using color_internal::require_range;

using OneFactor = Result<void> (*)(const Tensor& image, std::byte* out, double factor);
using NoFactor = Result<void> (*)(const Tensor& image, std::byte* out);

ImageFunction with_factor(const char* name, const char* option, double factor, OneFactor function) {
  return {
      .name = name,
      .arguments = fmt::format("{}={}", option, factor),
      .run = [=](const Tensor& image, std::byte* out, Random&, KernelCall&) { return function(image, out, factor); }};
}

ImageFunction without_factor(const char* name, NoFactor function) {
  return {.name = name,
          .run = [=](const Tensor& image, std::byte* out, Random&, KernelCall&) { return function(image, out); }};
}

// adjust_brightness and its like.
KernelRef adjusting(const char* name, const char* option, double factor, OneFactor function, Channels channels,
                    double low = 0, double high = color_internal::kLargest) {
  require_range(name, option, factor, low, high);
  ImageFunction made = with_factor(name, option, factor, function);
  made.channels = channels;
  return image_kernel(made);
}

// The random_ form. `usual`: p's default, which the title leaves out.
KernelRef randomly(ImageFunction function, double p, double usual = 0.5) {
  function.name = "random_" + function.name;
  require_range(function.name, "p", p, 0, 1);
  function.draws = true;
  function.p = p;
  if (p != usual) function.arguments += fmt::format("{}p={}", function.arguments.empty() ? "" : ", ", p);
  return image_kernel(function);
}

ImageFunction solarizing(double threshold) {
  require_range("solarize", "threshold", threshold, -color_internal::kLargest, 255);
  ImageFunction function = with_factor("solarize", "threshold", threshold, solarize);
  function.most_for_float = threshold;
  return function;
}

ImageFunction posterizing(int bits) {
  require_range("posterize", "bits", bits, 0, 8);
  return {
      .name = "posterize",
      .arguments = fmt::format("bits={}", bits),
      .run = [=](const Tensor& image, std::byte* out, Random&, KernelCall&) { return posterize(image, out, bits); }};
}

ImageFunction sharpening(double factor) {
  require_range("adjust_sharpness", "sharpness_factor", factor, 0, color_internal::kLargest);
  return with_factor("adjust_sharpness", "sharpness_factor", factor, adjust_sharpness);
}

}  // namespace

KernelRef adjust_brightness(double brightness_factor) {
  return adjusting("adjust_brightness", "brightness_factor", brightness_factor, adjust_brightness, Channels::any);
}

KernelRef adjust_contrast(double contrast_factor) {
  return adjusting("adjust_contrast", "contrast_factor", contrast_factor, adjust_contrast, Channels::grey_or_rgb);
}

KernelRef adjust_saturation(double saturation_factor) {
  return adjusting("adjust_saturation", "saturation_factor", saturation_factor, adjust_saturation,
                   Channels::grey_or_rgb);
}

KernelRef adjust_hue(double hue_factor) {
  return adjusting("adjust_hue", "hue_factor", hue_factor, adjust_hue, Channels::grey_or_rgb, -0.5, 0.5);
}

KernelRef adjust_gamma(double gamma, double gain) {
  require_range("adjust_gamma", "gamma", gamma, 0, color_internal::kLargest);
  require_range("adjust_gamma", "gain", gain, -color_internal::kLargest, color_internal::kLargest);
  return image_kernel({.name = "adjust_gamma",
                       .arguments = fmt::format("gamma={}", gamma) + (gain == 1 ? "" : fmt::format(", gain={}", gain)),
                       .run = [=](const Tensor& image, std::byte* out, Random&, KernelCall&) {
                         return adjust_gamma(image, out, gamma, gain);
                       }});
}

KernelRef adjust_sharpness(double sharpness_factor) { return image_kernel(sharpening(sharpness_factor)); }
KernelRef random_adjust_sharpness(double sharpness_factor, double p) {
  return randomly(sharpening(sharpness_factor), p);
}

KernelRef grayscale(int num_output_channels) {
  if (num_output_channels != 3) require_range("grayscale", "num_output_channels", num_output_channels, 1, 1);
  return image_kernel({.name = "grayscale",
                       .arguments = num_output_channels == 1 ? "" : "num_output_channels=3",
                       .channels = Channels::grey_or_rgb,
                       .output_channels = num_output_channels,
                       .run = [=](const Tensor& image, std::byte* out, Random&, KernelCall&) {
                         return to_grayscale(image, out, num_output_channels);
                       }});
}
KernelRef to_grayscale(int num_output_channels) { return grayscale(num_output_channels); }

KernelRef random_grayscale(double p) {
  const auto run = [](const Tensor& image, std::byte* out, Random&, KernelCall&) {
    return to_grayscale(image, out, static_cast<int>(image.dim(2)));
  };
  return randomly({.name = "grayscale", .channels = Channels::grey_or_rgb, .run = run}, p, 0.1);
}

KernelRef invert() { return image_kernel(without_factor("invert", invert)); }
KernelRef random_invert(double p) { return randomly(without_factor("invert", invert), p); }
KernelRef solarize(double threshold) { return image_kernel(solarizing(threshold)); }
KernelRef random_solarize(double threshold, double p) { return randomly(solarizing(threshold), p); }
KernelRef posterize(int bits) { return image_kernel(posterizing(bits)); }
KernelRef random_posterize(int bits, double p) { return randomly(posterizing(bits), p); }
KernelRef equalize() { return image_kernel(without_factor("equalize", equalize)); }
KernelRef random_equalize(double p) { return randomly(without_factor("equalize", equalize), p); }
KernelRef autocontrast() { return image_kernel(without_factor("autocontrast", autocontrast)); }
KernelRef random_autocontrast(double p) { return randomly(without_factor("autocontrast", autocontrast), p); }

KernelRef gaussian_blur(int64_t kernel_size, ValueRange sigma) {
  return gaussian_blur(std::array<int64_t, 2>{kernel_size, kernel_size}, sigma);
}

KernelRef gaussian_blur(std::array<int64_t, 2> kernel_size, ValueRange sigma) {
  for (const int64_t size : kernel_size) {
    if (size >= 1 && size <= kLargestBlur && size % 2 == 1) continue;
    throw Exception(Error(ErrorKind::InvalidArgument,
                          fmt::format("gaussian_blur: kernel_size must be odd, 1 to {}, not {}", kLargestBlur, size)));
  }
  require_range("gaussian_blur", "sigma", sigma.low, 1e-30, color_internal::kLargest);
  require_range("gaussian_blur", "sigma", sigma.high, sigma.low, color_internal::kLargest);
  std::string arguments = kernel_size[0] == kernel_size[1]
                              ? fmt::format("kernel_size={}", kernel_size[0])
                              : fmt::format("kernel_size=[{},{}]", kernel_size[0], kernel_size[1]);
  if (sigma.low != 0.1 || sigma.high != 2) arguments += fmt::format(", sigma=[{},{}]", sigma.low, sigma.high);
  return image_kernel({.name = "gaussian_blur",
                       .arguments = std::move(arguments),
                       .draws = true,
                       .run = [=](const Tensor& image, std::byte* out, Random& random, KernelCall& call) {
                         const double drawn =
                             sigma.low + (sigma.high - sigma.low) * static_cast<double>(random.uniform());
                         return gaussian_blur(image, out, kernel_size, {drawn, drawn}, call.scratch<BlurMemory>());
                       }});
}

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// A kernel that is a function from one image to another of the same dtype and size. For the kernels of colours.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "headpond/codec/image/color/color_internal.h"
#include "headpond/tensor/kernel.h"

namespace headpond::color_internal {

struct ImageFunction {
  std::string name;            ///< In errors, and of the random numbers.
  std::string arguments = "";  ///< "brightness_factor=2, p=0.1"; "" for none.
  Channels channels = Channels::any;
  bool draws = false;
  std::optional<double> p = {};               ///< The image changes iff the first number is below this.
  int64_t output_channels = 0;                ///< 0: as many as the image has.
  std::optional<double> most_for_float = {};  ///< Building refuses f32 images if this is above 1.
  std::function<Result<void>(const Tensor& image, std::byte* out, Random& random, KernelCall& call)> run;
};

KernelRef image_kernel(const ImageFunction& function);

/// Throws Exception unless low <= value <= high.
void require_range(std::string_view op, std::string_view option, double value, double low, double high);

}  // namespace headpond::color_internal

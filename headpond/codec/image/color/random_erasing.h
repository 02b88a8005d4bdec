// SPDX-License-Identifier: Apache-2.0
// Erases a random rectangle of an image: Zhong et al., "Random erasing data augmentation", 2017; torchvision's
// RandomErasing.
#pragma once

#include <array>
#include <initializer_list>
#include <vector>

#include "headpond/codec/image/image_layout.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// One number, or one for each channel.
struct ErasingValue {
  ErasingValue(double value) : channels{value} {}
  ErasingValue(std::initializer_list<double> values) : channels(values) {}
  std::vector<double> channels;
};

struct RandomErasingOptions {
  double p = 0.5;
  std::array<double, 2> scale = {0.02, 0.33};  ///< The part of the image's area; within [0, 1].
  std::array<double, 2> ratio = {0.3, 3.3};    ///< Height by width; above 0.
  ErasingValue value = 0;                      ///< For u8 whole numbers of 0 to 255.
  bool random_value = false;                   ///< Instead, a normal number for each value; not for u8.
  ImageLayout layout = ImageLayout::chw;       ///< The default is what normalize() gives.
};

/// The image is u8, f32, f16 or bf16, with 1 to 4 channels; it keeps shape and dtype. Other fields stay as they are,
/// also masks. Throws Exception(InvalidArgument) iff an option is out of range, and when a map is built, for an image
/// that it can't take.
///
/// Draws 43 words: whether to erase, as the random_ forms of color_kernels.h; two that are the key of random values;
/// and ten tries of area (uniform), ratio (uniform in its logarithm), top and left. The first rectangle that is lower
/// and narrower than the image is erased; if there is none, nothing is. Sides are rounded to the nearest, halves to
/// even.
KernelRef random_erasing(const RandomErasingOptions& options = {});

}  // namespace headpond

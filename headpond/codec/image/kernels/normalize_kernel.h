// SPDX-License-Identifier: Apache-2.0
// normalize() as a kernel, for map: pixels to the floats that a network takes.
#pragma once

#include <vector>

#include "headpond/codec/image/image_layout.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

struct NormalizeOptions {
  std::vector<double> mean = {0.485, 0.456, 0.406};  ///< ImageNet's. One for each channel, or one for all.
  std::vector<double> std = {0.229, 0.224, 0.225};
  ImageLayout layout = ImageLayout::chw;
  DType dtype = DType::f32;  ///< f32, f16 or bf16.
};

/// From u8 or f32 [height, width, channels] to (v - mean) / std, v the pixel, of u8 divided by 255: the float pixel *
/// a + b, both operations rounded, with a = 1 / std (of u8: / 255) and b = -mean / std rounded to float; then rounded
/// to the dtype. Masks, boxes and points stay as they are. Throws Exception(InvalidArgument) iff a std is not above 0,
/// a value is not finite, the numbers of means and stds are not 1 to 4 and equal, or the dtype is another.
/// InvalidArgument of a sample: the image has another number of channels. Thread-safe.
KernelRef normalize(const NormalizeOptions& options = {});
/// The options of a kernel that normalize() made; null for another kernel. Valid as long as the kernel.
const NormalizeOptions* normalization_of(const Kernel& kernel);

}  // namespace headpond

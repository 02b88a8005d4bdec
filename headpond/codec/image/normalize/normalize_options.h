// SPDX-License-Identifier: Apache-2.0
// Options of normalize(): see kernels/normalize_kernel.h.
#pragma once

#include <vector>

#include "headpond/codec/image/image_layout.h"
#include "headpond/tensor/dtype.h"

namespace headpond {

struct NormalizeOptions {
  std::vector<double> mean = {0.485, 0.456, 0.406};  ///< ImageNet's. One for each channel, or one for all.
  std::vector<double> std = {0.229, 0.224, 0.225};
  ImageLayout layout = ImageLayout::chw;
  DType dtype = DType::f32;  ///< f32, f16 or bf16.
};

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// normalize() as a kernel, for map: pixels to the floats that a network takes.
#pragma once

#include "headpond/codec/image/normalize/normalize_options.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// From u8 or f32 [height, width, channels] to (v - mean) / std, v the pixel, of u8 divided by 255: the float pixel *
/// a + b, both operations rounded, with a = 1 / std (of u8: / 255) and b = -mean / std rounded to float; then rounded
/// to the dtype. Masks, boxes and points stay as they are. Throws Exception(InvalidArgument) iff a std is not above 0,
/// a value is not finite, the numbers of means and stds are not 1 to 4 and equal, or the dtype is another.
/// InvalidArgument of a sample: the image has another number of channels. Thread-safe.
KernelRef normalize(const NormalizeOptions& options = {});
/// The options of a kernel that normalize() made; null for another kernel. Valid as long as the kernel.
const NormalizeOptions* normalization_of(const Kernel& kernel);

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// Mirrored images as kernels, for map.
#pragma once

#include "headpond/tensor/kernel.h"

namespace headpond {

/// Mirrors the columns (horizontal) or the rows (vertical) of u8 or f32 [height, width, channels] with probability p,
/// and the masks, boxes and points that belong to it. Draws one word: iff it is below p * 2^32 the sample is mirrored.
/// InvalidArgument of a sample that is mirrored: a box as of crop_kernels.h. Throws Exception(InvalidArgument) iff p is
/// not in [0, 1]. Thread-safe.
KernelRef random_horizontal_flip(double p = 0.5);
KernelRef random_vertical_flip(double p = 0.5);

}  // namespace headpond

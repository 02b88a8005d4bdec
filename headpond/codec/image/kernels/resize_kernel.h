// SPDX-License-Identifier: Apache-2.0
// resize() as a kernel, for map: map("image", resize(256)).
#pragma once

#include <cstdint>

#include "headpond/codec/image/kernels/image_size.h"
#include "headpond/codec/image/resize/resize.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

struct ResizeKernelOptions {
  ResizeFilter filter = ResizeFilter::bilinear;
  bool antialias = true;
  /// With one number: the longer side is at most this. 0: no limit. Without a size: the longer side becomes this.
  int64_t max_size = 0;
};

/// resize_image() of u8 or f32 [height, width, channels]. One number as size is the new shorter side; the longer one is
/// size * longer / shorter, rounded down, as in torchvision. Masks take the nearest pixel; boxes and points are scaled.
/// InvalidArgument of a sample: an image without pixels, a box as of crop_kernels.h. Throws Exception(InvalidArgument)
/// iff a size is below 1 or above kResizeMaxSide, or max_size is not above it. Thread-safe.
KernelRef resize(ImageSize size, const ResizeKernelOptions& options = {});

/// resize({.max_size = 320}): the longer side becomes max_size, the shorter one max_size * shorter / longer, rounded
/// down, at least 1, as torchvision's Resize(None, max_size=320). Otherwise as above; max_size: 1 to kResizeMaxSide.
KernelRef resize(const ResizeKernelOptions& options);

}  // namespace headpond

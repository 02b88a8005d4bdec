// SPDX-License-Identifier: Apache-2.0
// decode_image as a kernel, for map: map("image", decode_image({.channels = 3})).
#pragma once

#include "headpond/codec/image/formats/image.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// From a field of dtype bytes, a whole file each of any format, to the pixels [height, width, channels], of
/// options.dtype; channels are known ahead unless they are 0. Errors of an element as decode_image(file). Throws
/// Exception(InvalidArgument) iff an option is out of range. Thread-safe.
KernelRef decode_image(const ImageOptions& options = {});

}  // namespace headpond

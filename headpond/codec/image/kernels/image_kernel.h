// SPDX-License-Identifier: Apache-2.0
// decode_image as a kernel, for map: map("image", decode_image({.channels = 3})).
#pragma once

#include "headpond/codec/image/formats/image.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// From a field of dtype bytes, a whole file each of any format, to the pixels [height, width, channels], of
/// options.dtype; channels are known ahead unless they are 0. Errors of an element as decode_image(file). Throws
/// Exception(InvalidArgument) iff an option is out of range. Thread-safe.
///
/// With a crop after it in one map no more of a JPEG or a PNG is decoded than by decode_jpeg() and decode_png().
/// Decoded whole are other images, JPEGs if channels are 2 or 4, and all with dtype u16.
KernelRef decode_image(const ImageOptions& options = {});
inline KernelRef decode_image(std::initializer_list<NoOption>) { return decode_image(ImageOptions()); }

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// decode_png as a kernel, for map: map("image", decode_png({.channels = 3})).
#pragma once

#include "headpond/codec/image/png.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// From a field of dtype bytes, a whole file each, to the pixels [height, width, channels], of options.dtype; channels
/// are known ahead unless they are 0. Errors of an element as decode_png(file). Throws Exception(InvalidArgument) iff
/// an option is out of range. Thread-safe.
///
/// With a crop after it in one map only the rows down to the crop's end are decoded, unless the image is interlaced;
/// damaged compressed data below them are then not found, but wrong checksums are.
KernelRef decode_png(const ImageOptions& options = {});
inline KernelRef decode_png(std::initializer_list<NoOption>) { return decode_png(ImageOptions()); }

}  // namespace headpond

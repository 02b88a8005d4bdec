// SPDX-License-Identifier: Apache-2.0
// decode_jpeg() as a kernel, for map: map("image", decode_jpeg(), random_resized_crop({224, 224})).
#pragma once

#include "headpond/codec/image/jpeg.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// From a field of dtype bytes, a whole file each, to u8 [height, width, channels]. Errors of a sample as
/// decode_jpeg(file); without the component jpeg, Unimplemented. Throws Exception(InvalidArgument) iff an option is out
/// of range. Thread-safe.
///
/// With a crop after it in one map only the part that the crop keeps is decoded; damage below its rows is then not
/// looked for, unless options.check is whole. With options.scale fit and a resize after it the image is decoded at 1/2,
/// 1/4 or 1/8 of its size, the smallest whose part is not below the resize's: then pixels differ from those of the
/// kernels one by one. The part begins and ends where the crop does, rounded outwards to whole pixels.
KernelRef decode_jpeg(const JpegOptions& options = {});
inline KernelRef decode_jpeg(std::initializer_list<NoOption>) { return decode_jpeg(JpegOptions()); }

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// Moves all fields of a sample by one map: what the kernels of this folder and the policies share.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "headpond/codec/image/geometry/warp.h"
#include "headpond/tensor/kernel.h"

namespace headpond::warp_internal {

struct FieldOptions {
  WarpOptions image = {};
  double mask_fill = 0;
  double min_area = 1;
};

/// Parts of a kernel's own options.
template <class Options>
FieldOptions fields_of(const Options& options) {
  return {.image = {.interpolation = options.interpolation, .fill = options.fill},
          .mask_fill = options.mask_fill,
          .min_area = options.min_area};
}

/// How large the result of an image of height x width is; each kUnknown if it isn't known.
struct ResultSize {
  int64_t height;
  int64_t width;
};

/// The fields after a kernel named `op` that moves images: `size` of the image's, fewer boxes and labels. Throws
/// Exception(InvalidArgument) iff the kernel can't take the fields, or the fill.
Spec moved_spec(const std::string& op, Spec spec, const FieldOptions& options,
                const std::function<ResultSize(int64_t, int64_t)>& size);
inline ResultSize same_size(int64_t height, int64_t width) { return {height, width}; }
inline ResultSize unknown_size(int64_t, int64_t) { return {kUnknown, kUnknown}; }

/// Writes `value` as `dtype`. False iff the dtype has no such number.
bool put_number(DType dtype, double value, std::byte* to);

/// Height and width of the sample's image, or why it has none.
struct WarpSize {
  int64_t height = 0;
  int64_t width = 0;
};
Result<WarpSize> image_size(const Tensor& image);

/// Makes the results of `call`: images by options.image, masks by their nearest pixel, boxes, their labels, points.
/// Throws as KernelCall::make.
Result<void> warp_fields(KernelCall& call, const ImageMap& map, const FieldOptions& options);

/// Throws Exception(InvalidArgument) iff a number of fill isn't finite, there are none or more than 4, or min_area is
/// negative or no number.
void check_options(const std::string& op, const FieldOptions& options);

}  // namespace headpond::warp_internal

// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/image_kernel.h"
#include "headpond/codec/image/png_kernel.h"
#include "headpond/plan/kernels/plan_kernel.h"
#include "headpond/plan/plan_tensors.h"

namespace headpond::plan {
namespace {

KernelRef build_decode_png(const PlanArguments& options) {
  PngOptions png = {.channels = int32_option(options, "channels", 0)};
  if (options.has("dtype")) png.dtype = to_dtype(options, "dtype");
  png.max_pixels = options.integer("max_pixels", png.max_pixels);
  png.max_memory = options.integer("max_memory", png.max_memory);
  return decode_png(png);
}

KernelRef build_decode_image(const PlanArguments& options) {
  ImageOptions image = {.channels = int32_option(options, "channels", 0)};
  if (options.has("dtype")) image.dtype = to_dtype(options, "dtype");
  image.apply_exif_orientation = options.flag("apply_exif_orientation", image.apply_exif_orientation);
  image.max_pixels = options.integer("max_pixels", image.max_pixels);
  image.max_memory = options.integer("max_memory", image.max_memory);
  return decode_image(image);
}

}  // namespace

const std::vector<PlanKernel>& decoder_plan_kernels() {
  static const std::vector<PlanKernel> all = {
      {"decode_image", {"apply_exif_orientation", "channels", "dtype", "max_memory", "max_pixels"}, build_decode_image},
      {"decode_png", {"channels", "dtype", "max_memory", "max_pixels"}, build_decode_png},
  };
  return all;
}

}  // namespace headpond::plan

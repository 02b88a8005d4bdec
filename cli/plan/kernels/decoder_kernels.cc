// SPDX-License-Identifier: Apache-2.0
#include "cli/plan/kernels/plan_kernel.h"
#include "cli/plan/plan_tensors.h"
#include "headpond/codec/image/formats/image_kernel.h"
#include "headpond/codec/image/png_kernel.h"
#include "headpond/codec/sound/wav_kernel.h"

namespace headpond::cli {
namespace {

KernelRef build_decode_png(const PlanArguments& options) {
  PngOptions png = {.channels = int32_option(options, "channels", 0)};
  if (options.has("dtype")) png.dtype = to_dtype(options, "dtype");
  png.max_pixels = options.integer("max_pixels", png.max_pixels);
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

KernelRef build_decode_wav(const PlanArguments& options) {
  WavOptions wav;
  wav.desired_channels = options.integer("desired_channels", wav.desired_channels);
  wav.desired_samples = options.integer("desired_samples", wav.desired_samples);
  wav.first_sample = options.integer("first_sample", wav.first_sample);
  wav.lenient = options.flag("lenient", wav.lenient);
  wav.max_channels = int32_option(options, "max_channels", wav.max_channels);
  return decode_wav(wav);
}

}  // namespace

const std::vector<PlanKernel>& decoder_plan_kernels() {
  static const std::vector<PlanKernel> all = {
      {"decode_image", {"apply_exif_orientation", "channels", "dtype", "max_memory", "max_pixels"}, build_decode_image},
      {"decode_png", {"channels", "dtype", "max_pixels"}, build_decode_png},
      {"decode_wav",
       {"desired_channels", "desired_samples", "first_sample", "lenient", "max_channels"},
       build_decode_wav},
  };
  return all;
}

}  // namespace headpond::cli

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "headpond/codec/image/distance_map_kernel.h"
#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/jpeg_kernel.h"
#include "headpond/codec/image/kernels/normalize_kernel.h"
#include "headpond/codec/image/kernels/resize_kernel.h"
#include "headpond/plan/kernels/plan_kernel.h"
#include "headpond/plan/plan_tensors.h"

namespace headpond::plan {
namespace {

// The value of an enumeration by its index in `names`.
template <class T, size_t kCount>
T choice(const PlanArguments& options, const std::string& name, const std::array<std::string, kCount>& names,
         T fallback) {
  const std::string text = options.text(name, names[static_cast<size_t>(fallback)]);
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end())
    options.refuse(name, fmt::format("is '{}': one of {} was expected", text, fmt::join(names, ", ")));
  return static_cast<T>(found - names.begin());
}

ImageSize size_option(const PlanArguments& options) {
  const std::vector<int64_t> size = integers_option(options, "size");
  if (size.size() == 1) return size[0];
  if (size.size() == 2 && size[1] > 0) return {size[0], size[1]};
  options.refuse("size", "must be one number or [height, width]");
}

ResizeFilter filter_option(const PlanArguments& options) {
  const std::array<std::string, 6> names = {"nearest", "box", "bilinear", "bicubic", "lanczos", "area"};
  return choice(options, "filter", names, ResizeFilter::bilinear);
}

PadMode mode_option(const PlanArguments& options) {
  return choice(options, "mode", std::array<std::string, 4>{"constant", "reflect", "edge", "symmetric"},
                PadMode::constant);
}

KernelRef build_decode_jpeg(const PlanArguments& options) {
  JpegOptions jpeg;
  jpeg.channels = int32_option(options, "channels", jpeg.channels);
  jpeg.ratio = int32_option(options, "ratio", jpeg.ratio);
  jpeg.fancy_upscaling = options.flag("fancy_upscaling", jpeg.fancy_upscaling);
  jpeg.dct_method = options.text("dct_method", jpeg.dct_method);
  jpeg.damage = choice(options, "damage", std::array<std::string, 3>{"fail", "strict", "recover"}, jpeg.damage);
  jpeg.acceptable_fraction = number_option(options, "acceptable_fraction", jpeg.acceptable_fraction);
  jpeg.apply_exif_orientation = options.flag("apply_exif_orientation", jpeg.apply_exif_orientation);
  jpeg.check = choice(options, "check", std::array<std::string, 2>{"part", "whole"}, jpeg.check);
  jpeg.scale = choice(options, "scale", std::array<std::string, 2>{"none", "fit"}, jpeg.scale);
  jpeg.max_pixels = options.integer("max_pixels", jpeg.max_pixels);
  jpeg.max_scans = options.integer("max_scans", jpeg.max_scans);
  jpeg.max_memory = options.integer("max_memory", jpeg.max_memory);
  return decode_jpeg(jpeg);
}

CropOptions crop_options(const PlanArguments& options) {
  return {.min_area = number_option(options, "min_area", 1), .mask_fill = number_option(options, "mask_fill", 0)};
}

KernelRef build_crop(const PlanArguments& options) {
  return crop(options.integer("y"), options.integer("x"), size_option(options), crop_options(options));
}

KernelRef build_center_crop(const PlanArguments& options) {
  return center_crop(size_option(options), crop_options(options));
}

KernelRef build_pad(const PlanArguments& options) {
  return pad(integers_option(options, "padding"), {.fill = numbers_option(options, "fill", {0}),
                                                   .mode = mode_option(options),
                                                   .mask_fill = number_option(options, "mask_fill", 0)});
}

KernelRef build_random_crop(const PlanArguments& options) {
  return random_crop(size_option(options), {.padding = integers_option(options, "padding"),
                                            .pad_if_needed = options.flag("pad_if_needed", false),
                                            .fill = numbers_option(options, "fill", {0}),
                                            .mode = mode_option(options),
                                            .mask_fill = number_option(options, "mask_fill", 0),
                                            .min_area = number_option(options, "min_area", 1)});
}

KernelRef build_random_resized_crop(const PlanArguments& options) {
  RandomResizedCropOptions crop;
  crop.scale = numbers_option(options, "scale", crop.scale);
  crop.ratio = numbers_option(options, "ratio", crop.ratio);
  crop.filter = filter_option(options);
  crop.antialias = options.flag("antialias", crop.antialias);
  crop.min_area = number_option(options, "min_area", crop.min_area);
  return random_resized_crop(size_option(options), crop);
}

KernelRef build_resize(const PlanArguments& options) {
  const ResizeKernelOptions resized = {.filter = filter_option(options),
                                       .antialias = options.flag("antialias", true),
                                       .max_size = options.integer("max_size", 0)};
  const bool has_size = options.has("size") || !options.has("max_size");
  return has_size ? resize(size_option(options), resized) : resize(resized);
}

KernelRef build_horizontal_flip(const PlanArguments& options) {
  return random_horizontal_flip(number_option(options, "p", 0.5));
}

KernelRef build_vertical_flip(const PlanArguments& options) {
  return random_vertical_flip(number_option(options, "p", 0.5));
}

KernelRef build_normalize(const PlanArguments& options) {
  NormalizeOptions normal;
  normal.mean = numbers_option(options, "mean", normal.mean);
  normal.std = numbers_option(options, "std", normal.std);
  normal.layout = choice(options, "layout", std::array<std::string, 2>{"hwc", "chw"}, normal.layout);
  if (options.has("dtype")) normal.dtype = to_dtype(options, "dtype");
  return normalize(normal);
}

KernelRef build_distance_map(const PlanArguments& options) {
  DistanceMapOptions distances;
  distances.limit = static_cast<float>(number_option(options, "limit", static_cast<double>(distances.limit)));
  distances.groups = int32_option(options, "groups", distances.groups);
  distances.layout = choice(options, "layout", std::array<std::string, 2>{"hwc", "chw"}, distances.layout);
  return distance_map(distances);
}

}  // namespace

const std::vector<PlanKernel>& image_plan_kernels() {
  static const std::vector<PlanKernel> all = {
      {"decode_jpeg",
       {"channels", "ratio", "fancy_upscaling", "dct_method", "damage", "acceptable_fraction", "apply_exif_orientation",
        "check", "scale", "max_pixels", "max_scans", "max_memory"},
       build_decode_jpeg},
      {"crop", {"y", "x", "size", "min_area", "mask_fill"}, build_crop},
      {"center_crop", {"size", "min_area", "mask_fill"}, build_center_crop},
      {"pad", {"padding", "fill", "mode", "mask_fill"}, build_pad},
      {"random_crop", {"size", "padding", "pad_if_needed", "fill", "mode", "mask_fill", "min_area"}, build_random_crop},
      {"random_resized_crop", {"size", "scale", "ratio", "filter", "antialias", "min_area"}, build_random_resized_crop},
      {"resize", {"size", "filter", "antialias", "max_size"}, build_resize},
      {"random_horizontal_flip", {"p"}, build_horizontal_flip},
      {"random_vertical_flip", {"p"}, build_vertical_flip},
      {"distance_map", {"limit", "groups", "layout"}, build_distance_map},
      {"normalize", {"mean", "std", "layout", "dtype"}, build_normalize},
  };
  return all;
}

}  // namespace headpond::plan

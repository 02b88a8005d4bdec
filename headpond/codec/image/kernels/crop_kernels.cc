// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/crop_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "headpond/base/math/portable.h"
#include "headpond/codec/image/kernels/image_chain_internal.h"

namespace headpond {
namespace {

using image_internal::check_size;
using image_internal::ImageChain;
using image_internal::refuse_option;
using image_internal::square;
using image_internal::Stages;
using image_internal::title_of;
using image_internal::WindowStage;
using Parts = std::vector<std::string>;

constexpr std::array<std::string_view, 4> kPadModes = {"constant", "reflect", "edge", "symmetric"};

// Left, top, right, bottom.
using Sides = std::array<int64_t, 4>;
constexpr Sides kNoSides = {};

void note_min_area(const std::string& name, double min_area, Parts& parts) {
  if (!(min_area >= 0)) refuse_option(name, fmt::format("min_area {}: it must be at least 0", min_area));
  if (min_area != 1) parts.push_back(fmt::format("min_area={}", min_area));
}

void note_mask_fill(const std::string& name, double mask_fill, Parts& parts) {
  if (!std::isfinite(mask_fill)) refuse_option(name, "mask_fill must be finite");
  if (mask_fill != 0) parts.push_back(fmt::format("mask_fill={}", mask_fill));
}

void note_padding_style(const std::string& name, const std::vector<double>& fill, double mask_fill, PadMode mode,
                        Parts& parts) {
  const bool is_finite = std::all_of(fill.begin(), fill.end(), [](double value) { return std::isfinite(value); });
  if (fill.empty() || fill.size() > 4 || !is_finite) refuse_option(name, "fill must be 1 to 4 finite numbers");
  if (mode < PadMode::constant || mode > PadMode::symmetric) refuse_option(name, "an unknown mode");
  if (fill != std::vector<double>{0}) parts.push_back(fmt::format("fill=[{}]", fmt::join(fill, ",")));
  if (mode != PadMode::constant) parts.push_back(fmt::format("mode={}", kPadModes[static_cast<size_t>(mode)]));
  note_mask_fill(name, mask_fill, parts);
}

Sides sides_of(const std::string& name, const std::vector<int64_t>& padding) {
  for (const int64_t pixels : padding) {
    if (pixels < 0 || pixels > kResizeMaxSide) {
      refuse_option(name, fmt::format("padding {}: it must be 0 to {}", pixels, kResizeMaxSide));
    }
  }
  if (padding.empty()) return {};
  if (padding.size() == 1) return {padding[0], padding[0], padding[0], padding[0]};
  if (padding.size() == 2) return {padding[0], padding[1], padding[0], padding[1]};
  if (padding.size() == 4) return {padding[0], padding[1], padding[2], padding[3]};
  refuse_option(name, fmt::format("padding of {} numbers: 1, 2 or 4 were expected", padding.size()));
}

KernelRef window_kernel(const std::string& name, const Parts& parts, WindowStage stage, bool draws) {
  Stages stages = {{std::move(stage), name, 0, draws}};
  return std::make_shared<ImageChain>(title_of(name, parts), draws ? name : "", std::move(stages));
}

// Half of a size, halves to even.
int64_t half_to_even(int64_t size) {
  const int64_t half = size / 2;
  return size % 2 == 0 ? half : half + half % 2;
}

int64_t center_of(int64_t image, int64_t part) {
  return image < part ? -((part - image) / 2) : half_to_even(image - part);
}

Result<ImageWindow> choose_place(const ImageSize& size, const Sides& pads, bool pad_if_needed, int64_t height,
                                 int64_t width, Random& random) {
  int64_t top = pads[1], left = pads[0];
  int64_t rows = height + pads[1] + pads[3], columns = width + pads[0] + pads[2];
  const auto grow = [&](int64_t wanted, int64_t& before, int64_t& side) {
    if (!pad_if_needed || side >= wanted) return;
    before += wanted - side;
    side += 2 * (wanted - side);
  };
  grow(size.height, top, rows);
  grow(size.width, left, columns);
  if (rows < size.height || columns < size.width) {
    return fail(ErrorKind::InvalidArgument, fmt::format("a crop of {} x {} pixels from an image of {} x {}", size.width,
                                                        size.height, columns, rows));
  }
  const int64_t y = random.one_of(rows - size.height + 1) - top;
  const int64_t x = random.one_of(columns - size.width + 1) - left;
  return ImageWindow{y, x, size.height, size.width};
}

struct AreaAndRatio {
  double least_scale, most_scale, least_ratio, most_ratio;
};

int64_t rounded(double value) { return static_cast<int64_t>(std::floor(value + 0.5)); }

// The middle, with the ratio that is nearest to the image's own.
ImageWindow middle_part(const AreaAndRatio& range, int64_t height, int64_t width) {
  const double own = static_cast<double>(width) / static_cast<double>(height);
  int64_t h = height, w = width;
  if (own < range.least_ratio)
    h = std::clamp<int64_t>(rounded(static_cast<double>(width) / range.least_ratio), 1, height);
  if (own > range.most_ratio)
    w = std::clamp<int64_t>(rounded(static_cast<double>(height) * range.most_ratio), 1, width);
  return {(height - h) / 2, (width - w) / 2, h, w};
}

ImageWindow choose_part(const AreaAndRatio& range, int64_t height, int64_t width, Random& random) {
  const double area = static_cast<double>(height) * static_cast<double>(width);
  const double least = portable::log(range.least_ratio), most = portable::log(range.most_ratio);
  for (int i = 0; i < 10; ++i) {
    const double share = random.u32() * 0x1p-32, slope = random.u32() * 0x1p-32;
    const uint32_t row = random.u32(), column = random.u32();
    const double wanted = area * (range.least_scale + share * (range.most_scale - range.least_scale));
    const double ratio = portable::exp(least + slope * (most - least));
    const int64_t w = rounded(std::sqrt(wanted * ratio)), h = rounded(std::sqrt(wanted / ratio));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    return {Random::one_of(height - h + 1, row), Random::one_of(width - w + 1, column), h, w};
  }
  return middle_part(range, height, width);
}

AreaAndRatio range_of(const std::string& name, const RandomResizedCropOptions& options) {
  const auto is_range = [](const std::vector<double>& range, double most) {
    return range.size() == 2 && range[0] > 0 && range[0] <= range[1] && range[1] <= most;
  };
  if (!is_range(options.scale, 1)) refuse_option(name, "scale must be two numbers above 0, at most 1, in order");
  if (!is_range(options.ratio, 1e6) || options.ratio[0] < 1e-6) {
    refuse_option(name, "ratio must be two numbers from 1e-6 to 1e6, in order");
  }
  return {options.scale[0], options.scale[1], options.ratio[0], options.ratio[1]};
}

}  // namespace

KernelRef crop(int64_t y, int64_t x, ImageSize size, const CropOptions& options) {
  const std::string name = "crop";
  check_size(name, size);
  const auto is_place = [](int64_t at) { return at >= -kResizeMaxSide && at <= kResizeMaxSide; };
  for (const auto& [option, at] : {std::pair("y", y), std::pair("x", x)}) {
    if (!is_place(at))
      refuse_option(name, fmt::format("{} {}: it must be -{} to {}", option, at, kResizeMaxSide, kResizeMaxSide));
  }
  Parts parts = {fmt::format("{}", y), fmt::format("{}", x), size.to_string()};
  note_min_area(name, options.min_area, parts);
  note_mask_fill(name, options.mask_fill, parts);
  const ImageWindow window = {y, x, square(size).height, square(size).width};
  WindowStage stage = {.choose = [window](int64_t, int64_t, Random&) { return window; },
                       .may_pad = true,
                       .mask_fill = options.mask_fill};
  stage.min_area = options.min_area;
  stage.height = window.height;
  stage.width = window.width;
  return window_kernel(name, parts, std::move(stage), false);
}

KernelRef center_crop(ImageSize size, const CropOptions& options) {
  const std::string name = "center_crop";
  check_size(name, size);
  Parts parts = {size.to_string()};
  note_min_area(name, options.min_area, parts);
  note_mask_fill(name, options.mask_fill, parts);
  const int64_t rows = square(size).height, columns = square(size).width;
  const auto choose = [rows, columns](int64_t height, int64_t width, Random&) {
    return ImageWindow{center_of(height, rows), center_of(width, columns), rows, columns};
  };
  WindowStage stage = {.choose = choose, .may_pad = true, .mask_fill = options.mask_fill};
  stage.min_area = options.min_area;
  stage.height = rows;
  stage.width = columns;
  return window_kernel(name, parts, std::move(stage), false);
}

KernelRef pad(std::vector<int64_t> padding, const PadOptions& options) {
  const std::string name = "pad";
  if (padding.empty()) refuse_option(name, "padding of 0 numbers: 1, 2 or 4 were expected");
  const Sides sides = sides_of(name, padding);
  Parts parts = {padding.size() == 1 ? fmt::format("{}", padding[0]) : fmt::format("[{}]", fmt::join(padding, ","))};
  note_padding_style(name, options.fill, options.mask_fill, options.mode, parts);
  const auto choose = [sides](int64_t height, int64_t width, Random&) {
    return ImageWindow{-sides[1], -sides[0], height + sides[1] + sides[3], width + sides[0] + sides[2]};
  };
  WindowStage stage = {.choose = choose,
                       .may_pad = true,
                       .mode = options.mode,
                       .fill = options.fill,
                       .mask_fill = options.mask_fill,
                       .drops = false};
  stage.height = sides[1] + sides[3];
  stage.width = sides[0] + sides[2];
  stage.grows = true;
  return window_kernel(name, parts, std::move(stage), false);
}

KernelRef random_crop(ImageSize size, const RandomCropOptions& options) {
  const std::string name = "random_crop";
  check_size(name, size);
  const Sides pads = sides_of(name, options.padding);
  Parts parts = {size.to_string()};
  if (!options.padding.empty()) parts.push_back(fmt::format("padding=[{}]", fmt::join(options.padding, ",")));
  if (options.pad_if_needed) parts.emplace_back("pad_if_needed=true");
  note_padding_style(name, options.fill, options.mask_fill, options.mode, parts);
  note_min_area(name, options.min_area, parts);
  const ImageSize part = square(size);
  const auto choose = [part, pads, grows = options.pad_if_needed](int64_t height, int64_t width, Random& random) {
    return choose_place(part, pads, grows, height, width, random);
  };
  WindowStage stage = {.choose = choose,
                       .may_pad = options.pad_if_needed || pads != kNoSides,
                       .mode = options.mode,
                       .fill = options.fill,
                       .mask_fill = options.mask_fill};
  stage.min_area = options.min_area;
  stage.height = part.height;
  stage.width = part.width;
  return window_kernel(name, parts, std::move(stage), true);
}

KernelRef random_resized_crop(ImageSize size, const RandomResizedCropOptions& options) {
  const std::string name = "random_resized_crop";
  check_size(name, size);
  const AreaAndRatio range = range_of(name, options);
  const RandomResizedCropOptions usual;
  Parts parts = {size.to_string()};
  if (options.scale != usual.scale) parts.push_back(fmt::format("scale=[{}]", fmt::join(options.scale, ",")));
  if (options.ratio != usual.ratio) parts.push_back(fmt::format("ratio=[{}]", fmt::join(options.ratio, ",")));
  if (options.filter != usual.filter) parts.push_back(fmt::format("filter={}", headpond::name(options.filter)));
  if (!options.antialias) parts.emplace_back("antialias=false");
  note_min_area(name, options.min_area, parts);
  const auto choose = [range](int64_t height, int64_t width, Random& random) {
    return choose_part(range, height, width, random);
  };
  WindowStage window = {.choose = choose};
  window.min_area = options.min_area;
  const image_internal::ResizeStage resize = {square(size), 0, {options.filter, options.antialias}};
  Stages stages = {{std::move(window), name, 0, true}, {resize, "resize", 0, false}};
  return std::make_shared<ImageChain>(title_of(name, parts), name, std::move(stages));
}

}  // namespace headpond

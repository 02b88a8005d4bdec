// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "headpond/codec/image/geometry/geometry_kernels.h"
#include "headpond/codec/image/geometry/map_kernel_internal.h"

namespace headpond {
namespace {

using warp_internal::fields_of;
using warp_internal::Title;
using warp_internal::WarpSize;

double uniform_between(Random& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random.uniform());
}

void check_angle_range(const char* op, const char* option, const AngleRange& range, double limit) {
  if (range.low <= range.high && range.low >= -limit && range.high <= limit) return;
  warp_internal::refuse_option(
      op, fmt::format("{} is {} to {}: a range within {} degrees is expected", option, range.low, range.high, limit));
}

void add_angle_range(Title& title, const char* option, const AngleRange& range) {
  if (range.low == -range.high) return title.add(option, {range.high});
  title.add(option, {range.low, range.high});
}

void check_random_affine(const RandomAffineOptions& options) {
  const char* const op = "random_affine";
  check_angle_range(op, "degrees", options.degrees, kMaxAngle);
  if (options.shear) {
    check_angle_range(op, "shear along x", options.shear->x, kMaxShear);
    check_angle_range(op, "shear along y", options.shear->y, kMaxShear);
  }
  for (const double part : options.translate.value_or(XY{0, 0})) {
    if (!(part >= 0 && part <= 1)) warp_internal::refuse_option(op, fmt::format("translate has {}: not 0 to 1", part));
  }
  const auto [least, most] = options.scale.value_or(std::array<double, 2>{1, 1});
  if (!(least >= kMinScale && least <= most && most <= kMaxScale)) {
    warp_internal::refuse_option(
        op, fmt::format("scale is {} to {}: a range within {} to {} is expected", least, most, kMinScale, kMaxScale));
  }
  for (const double at : options.center.value_or(XY{0, 0})) {
    if (!(std::abs(at) <= kMaxOffset)) warp_internal::refuse_option(op, fmt::format("center has {}", at));
  }
}

std::string random_affine_title(const RandomAffineOptions& options) {
  Title title("random_affine");
  if (options.degrees.low != 0 || options.degrees.high != 0) add_angle_range(title, "degrees", options.degrees);
  if (options.translate) title.add("translate", {(*options.translate)[0], (*options.translate)[1]});
  if (options.scale) title.add("scale", {(*options.scale)[0], (*options.scale)[1]});
  if (options.shear) {
    const auto& [x, y] = *options.shear;
    if (y.low == 0 && y.high == 0) {
      add_angle_range(title, "shear", x);
    } else {
      title.add("shear", {x.low, x.high, y.low, y.high});
    }
  }
  title.add(options.center);
  title.add(fields_of(options));
  return title.text();
}

AffineParameters draw_affine(const RandomAffineOptions& options, WarpSize size, Random& random) {
  const auto whole = [&](double most) { return std::floor(uniform_between(random, -most, most) + 0.5); };
  const XY part = options.translate.value_or(XY{0, 0});
  const auto [least, most] = options.scale.value_or(std::array<double, 2>{1, 1});
  const ShearRange shear = options.shear.value_or(ShearRange(0));
  AffineParameters drawn;
  drawn.angle = uniform_between(random, options.degrees.low, options.degrees.high);
  drawn.translate[0] = whole(part[0] * static_cast<double>(size.width));
  drawn.translate[1] = whole(part[1] * static_cast<double>(size.height));
  drawn.scale = uniform_between(random, least, most);
  drawn.shear[0] = uniform_between(random, shear.x.low, shear.x.high);
  drawn.shear[1] = uniform_between(random, shear.y.low, shear.y.high);
  drawn.center = options.center;
  return drawn;
}

std::optional<ImageMap> draw_perspective(const RandomPerspectiveOptions& options, WarpSize size, Random& random) {
  const bool is_moved = static_cast<double>(random.uniform()) < options.p;
  const auto reach = [&](int64_t side) {
    const int64_t half = side / 2;
    return static_cast<int64_t>(options.distortion_scale * static_cast<double>(half)) + 1;
  };
  const int64_t across = reach(size.width), down = reach(size.height);
  const auto right = static_cast<double>(size.width - 1), bottom = static_cast<double>(size.height - 1);
  const Corners start = {XY{0, 0}, XY{right, 0}, XY{right, bottom}, XY{0, bottom}};
  Corners end = start;
  for (size_t i = 0; i < 4; ++i) {
    const bool is_right = i == 1 || i == 2, is_low = i >= 2;
    const auto x = static_cast<double>(random.one_of(across)), y = static_cast<double>(random.one_of(down));
    end[i] = {is_right ? right - static_cast<double>(across - 1) + x : x,
              is_low ? bottom - static_cast<double>(down - 1) + y : y};
  }
  if (!is_moved || !spans_a_plane(start) || !spans_a_plane(end)) return std::nullopt;
  return perspective_map(size.height, size.width, start, end);
}

}  // namespace

KernelRef random_affine(const RandomAffineOptions& options) {
  check_random_affine(options);
  return warp_internal::map_kernel({.name = "random_affine",
                                    .title = random_affine_title(options),
                                    .draws = true,
                                    .options = fields_of(options),
                                    .map = [options](WarpSize size, Random& random) {
                                      return affine_map(size.height, size.width, draw_affine(options, size, random));
                                    }});
}

KernelRef random_rotation(AngleRange degrees, const RotateOptions& options) {
  check_angle_range("random_rotation", "degrees", degrees, kMaxAngle);
  rotate(degrees.low, options);  // Throws for the other options.
  Title title("random_rotation");
  add_angle_range(title, "degrees", degrees);
  if (options.expand) title.add("expand", "true");
  title.add(options.center);
  title.add(fields_of(options));
  return warp_internal::map_kernel({.name = "random_rotation",
                                    .title = title.text(),
                                    .draws = true,
                                    .options = fields_of(options),
                                    .map =
                                        [degrees, options](WarpSize size, Random& random) {
                                          const double angle = uniform_between(random, degrees.low, degrees.high);
                                          return rotation_map(size.height, size.width, angle, options.expand,
                                                              options.center);
                                        },
                                    .size = options.expand ? warp_internal::unknown_size : warp_internal::same_size});
}

KernelRef random_perspective(const RandomPerspectiveOptions& options) {
  const char* const op = "random_perspective";
  if (!(options.distortion_scale >= 0 && options.distortion_scale <= 1)) {
    warp_internal::refuse_option(op, fmt::format("distortion_scale is {}: not 0 to 1", options.distortion_scale));
  }
  if (!(options.p >= 0 && options.p <= 1))
    warp_internal::refuse_option(op, fmt::format("p is {}: not 0 to 1", options.p));
  Title title(op);
  title.add("distortion_scale", options.distortion_scale, 0.5);
  title.add("p", options.p, 0.5);
  title.add(fields_of(options));
  return warp_internal::map_kernel(
      {.name = op,
       .title = title.text(),
       .draws = true,
       .options = fields_of(options),
       .map = [options](WarpSize size, Random& random) { return draw_perspective(options, size, random); }});
}

}  // namespace headpond

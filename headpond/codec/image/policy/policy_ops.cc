// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "headpond/codec/image/color/color_kernels.h"
#include "headpond/codec/image/geometry/geometry_kernels.h"
#include "headpond/codec/image/policy/policy_ops_internal.h"

namespace headpond::policy_internal {
namespace {

// Number `bin` of `bins` numbers between two, counted from the nearer end, in float: torch's linspace.
double between(double from, double to, int bin, int bins) {
  const auto low = static_cast<float>(from), high = static_cast<float>(to);
  const float step = (high - low) / static_cast<float>(bins - 1);
  return bin < bins / 2 ? low + step * static_cast<float>(bin) : high - step * static_cast<float>(bins - 1 - bin);
}

// To the nearest, ties to even.
double rounded(double value) {
  const double down = std::floor(value);
  const double rest = value - down;
  const bool is_up = rest > 0.5 || (rest == 0.5 && std::fmod(down, 2) != 0);
  return is_up ? down + 1 : down;
}

// The arc tangent: of an eighth of the angle by its series.
double degrees_of_slope(double slope) {
  const double size = std::abs(slope);
  double half = size / (1 + std::sqrt(1 + size * size));
  half = half / (1 + std::sqrt(1 + half * half));
  half = half / (1 + std::sqrt(1 + half * half));
  double sum = 0, power = half;
  for (int i = 0; i < 16; ++i, power *= -half * half) sum += power / (2 * i + 1);
  constexpr double kEightfold = 8 * 57.295779513082320877;
  return slope < 0 ? -sum * kEightfold : sum * kEightfold;
}

KernelRef moved_by(const warp_internal::FieldOptions& options, AffineOptions affine_options) {
  affine_options.interpolation = options.image.interpolation;
  affine_options.fill = options.image.fill;
  affine_options.mask_fill = options.mask_fill;
  affine_options.min_area = options.min_area;
  return affine(affine_options);
}

KernelRef geometric_kernel(PolicyOp op, double size, const warp_internal::FieldOptions& options) {
  switch (op) {
    case PolicyOp::shear_x:
      return moved_by(options, {.shear = {degrees_of_slope(size), 0}, .center = XY{0, 0}});
    case PolicyOp::shear_y:
      return moved_by(options, {.shear = {0, degrees_of_slope(size)}, .center = XY{0, 0}});
    case PolicyOp::translate_x:
      return moved_by(options, {.translate = {std::trunc(size), 0}});
    case PolicyOp::translate_y:
      return moved_by(options, {.translate = {0, std::trunc(size)}});
    default:
      return rotate(size, {.interpolation = options.image.interpolation,
                           .fill = options.image.fill,
                           .mask_fill = options.mask_fill,
                           .min_area = options.min_area});
  }
}

}  // namespace

bool is_signed(PolicyOp op) { return op >= PolicyOp::shear_x && op <= PolicyOp::sharpness; }

double magnitude(PolicyOp op, Space space, int bin, int bins, const PolicyImage& image) {
  const bool is_wide = space == Space::wide;
  const auto largest_move = [&](int64_t side) { return is_wide ? 32.0 : 150.0 / 331.0 * static_cast<double>(side); };
  switch (op) {
    case PolicyOp::shear_x:
    case PolicyOp::shear_y:
      return between(0, is_wide ? 0.99 : 0.3, bin, bins);
    case PolicyOp::translate_x:
      return between(0, largest_move(image.width), bin, bins);
    case PolicyOp::translate_y:
      return between(0, largest_move(image.height), bin, bins);
    case PolicyOp::rotate:
      return between(0, is_wide ? 135 : 30, bin, bins);
    case PolicyOp::brightness:
    case PolicyOp::color:
    case PolicyOp::contrast:
    case PolicyOp::sharpness:
      return between(0, is_wide ? 0.99 : 0.9, bin, bins);
    case PolicyOp::posterize:
      return rounded(8 -
                     static_cast<double>(static_cast<float>(bin) / (static_cast<float>(bins - 1) / (is_wide ? 6 : 4))));
    case PolicyOp::solarize:
      return between(1, 0, bin, bins);
    default:
      return 0;
  }
}

KernelRef policy_kernel(PolicyOp op, double size, const PolicyImage& image,
                        const warp_internal::FieldOptions& options) {
  switch (op) {
    case PolicyOp::identity:
      return nullptr;
    case PolicyOp::brightness:
      return adjust_brightness(1 + size);
    case PolicyOp::color:
      return adjust_saturation(1 + size);
    case PolicyOp::contrast:
      return adjust_contrast(1 + size);
    case PolicyOp::sharpness:
      return adjust_sharpness(1 + size);
    case PolicyOp::posterize:
      return posterize(static_cast<int>(size));
    case PolicyOp::solarize:
      return solarize(image.dtype == DType::u8 ? 255 * size : size);
    case PolicyOp::autocontrast:
      return autocontrast();
    case PolicyOp::equalize:
      return equalize();
    case PolicyOp::invert:
      return invert();
    default:
      return geometric_kernel(op, size, options);
  }
}

}  // namespace headpond::policy_internal

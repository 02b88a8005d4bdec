// SPDX-License-Identifier: Apache-2.0
// Kernels that rotate, scale, shear and distort images, for map: torchvision v2's names, arguments, signs and defaults.
// Thread-safe. Maps and their ranges: image_map.h; pixels: warp.h.
//
// The image is u8 or f32 [height, width, 1 to 4 channels]; it keeps its dtype, and its size unless `expand` is set.
// Fields beside it move with it, by the same random numbers: masks take the nearest pixel and `mask_fill`
// outside; boxes become the upright boxes around their moved corners, are cut to the image, and are dropped with their
// labels below `min_area` square pixels; points move, also out of the image.
//
// Throw Exception(InvalidArgument) iff an option is out of range; so does building a map over fields that a kernel
// can't take, or whose dtype doesn't hold the fill. Errors of an element: InvalidArgument for a mask of another size
// than the image, for other labels than boxes, and, where it is moved, for a box whose corners are exchanged
// (check_corners() of move_positions.h); ResourceExhausted for a result of `expand` above kMaxMovedPixels.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "headpond/codec/image/geometry/warp.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// Shears along x and y, in degrees; one number is x alone.
struct Shear {
  Shear() = default;
  Shear(double along_x, double along_y = 0) : x(along_x), y(along_y) {}
  double x = 0, y = 0;
};

struct AffineOptions {
  double angle = 0;
  XY translate = {0, 0};
  double scale = 1;
  Shear shear = {};
  Interpolation interpolation = Interpolation::nearest;
  std::vector<double> fill = {0};
  std::optional<XY> center = {};
  double mask_fill = 0;
  double min_area = 1;
};
/// Clockwise, as torchvision's.
KernelRef affine(const AffineOptions& options);

struct RotateOptions {
  Interpolation interpolation = Interpolation::nearest;
  bool expand = false;
  std::optional<XY> center = {};
  std::vector<double> fill = {0};
  double mask_fill = 0;
  double min_area = 1;
};
/// Counter-clockwise, as torchvision's.
KernelRef rotate(double angle, const RotateOptions& options = {});

struct PerspectiveOptions {
  Interpolation interpolation = Interpolation::nearest;
  std::vector<double> fill = {0};
  double mask_fill = 0;
  double min_area = 1;
};
/// Moves the four start points to the end points, in pixels.
KernelRef perspective(const Corners& startpoints, const Corners& endpoints, const PerspectiveOptions& options = {});

/// The range of a random angle in degrees: [-v, v] for one number, which is 0 or more.
struct AngleRange {
  AngleRange(double most) : low(-most), high(most) {}
  AngleRange(double least, double most) : low(least), high(most) {}
  double low, high;
};
/// Ranges of the shears along x and y: of x alone for one or two numbers.
struct ShearRange {
  ShearRange(double most) : x(most) {}
  ShearRange(double least, double most) : x(least, most) {}
  ShearRange(double least_x, double most_x, double least_y, double most_y) : x(least_x, most_x), y(least_y, most_y) {}
  AngleRange x;
  AngleRange y = 0;
};

struct RandomAffineOptions {
  AngleRange degrees = 0;
  std::optional<XY> translate = {};  ///< The largest parts of width and height, 0 to 1. Whole pixels are drawn.
  std::optional<std::array<double, 2>> scale = {};  ///< Smallest and largest.
  std::optional<ShearRange> shear = {};
  Interpolation interpolation = Interpolation::nearest;
  std::vector<double> fill = {0};
  std::optional<XY> center = {};
  double mask_fill = 0;
  double min_area = 1;
};
/// Draws six words, also where an option is not set: angle, x and y of the translation, scale, x and y of the shear;
/// each is uniform.
KernelRef random_affine(const RandomAffineOptions& options);

/// Draws one word: the angle, uniform.
KernelRef random_rotation(AngleRange degrees, const RotateOptions& options = {});

struct RandomPerspectiveOptions {
  double distortion_scale = 0.5;  ///< 0 to 1: 1 moves corners up to the middle.
  double p = 0.5;
  Interpolation interpolation = Interpolation::nearest;
  std::vector<double> fill = {0};
  double mask_fill = 0;
  double min_area = 1;
};
/// Moves the corners inwards, each by whole pixels, at random. Draws nine words, also where nothing changes: whether it
/// is below p; x and y of the top left, the top right, the bottom right and the bottom left. An image that is too small
/// for four corners stays as it is.
KernelRef random_perspective(const RandomPerspectiveOptions& options = {});

}  // namespace headpond

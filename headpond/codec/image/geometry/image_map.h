// SPDX-License-Identifier: Apache-2.0
// Where the pixels of a moved image come from: affine maps, rotations, perspectives, with the parameters, signs and
// defaults of torchvision v2. Pure functions, thread-safe; the same bits on every machine.
//
// Positions are in pixels, x to the right and y down; the middle of the first pixel is (0.5, 0.5). Angles are in
// degrees.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace headpond {

/// A position or a distance: x, then y.
using XY = std::array<double, 2>;

/// A projective map between an image and the result of moving it.
struct ImageMap {
  /// Row by row, a 3 x 3 matrix: for a position (x, y) of the result, (m0 x + m1 y + m2, m3 x + m4 y + m5) / (m6 x + m7
  /// y + m8) is that of the image.
  std::array<double, 9> to_image = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  /// The inverse: from a position of the image to that of the result.
  std::array<double, 9> to_result = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  int64_t height = 0;  ///< The result's height.
  int64_t width = 0;

  /// True iff the matrix has no perspective part.
  bool is_affine() const { return to_image[6] == 0 && to_image[7] == 0 && to_image[8] == 1; }
  /// True iff each pixel of an image of this size stays where it is.
  bool is_identity(int64_t image_height, int64_t image_width) const;
};

/// The position `at` after `matrix`. Not finite where the divisor is 0.
XY mapped(const std::array<double, 9>& matrix, const XY& at);
/// The divisor of mapped(): 0 on the horizon, with one sign on each side of it.
double divisor(const std::array<double, 9>& matrix, const XY& at);

inline constexpr double kMaxShear = 89.9;   ///< Degrees, in both directions.
inline constexpr double kMinScale = 0.001;  ///< The least scale of affine_map().
inline constexpr double kMaxScale = 1000;
inline constexpr double kMaxOffset = 1e8;                     ///< Pixels: of a translation, a centre, a corner.
inline constexpr double kMaxAngle = 1e6;                      ///< Degrees, in both directions.
inline constexpr int64_t kMaxMovedPixels = int64_t{1} << 28;  ///< Most pixels of a result larger than its image.

struct AffineParameters {
  double angle = 0;       ///< Clockwise, as torchvision's affine.
  XY translate = {0, 0};  ///< Pixels, after the rest.
  double scale = 1;
  XY shear = {0, 0};              ///< Along x and y.
  std::optional<XY> center = {};  ///< The point that stays without a translation; none: the image's middle.
};

/// Rotates, scales, shears, then translates an image of this size: R(angle) scale Shear_y Shear_x about the centre; the
/// result has the image's size. Throws Exception(InvalidArgument) iff a parameter is out of range: see the constants.
ImageMap affine_map(int64_t height, int64_t width, const AffineParameters& parameters);

/// Rotates counter-clockwise, as torchvision's rotate. `expand`: the result is as large as the rotated image needs,
/// which stays in the middle. Throws Exception: InvalidArgument iff the angle or the centre is out of range, or
/// `expand` comes with a centre; ResourceExhausted iff the result has more than kMaxMovedPixels.
ImageMap rotation_map(int64_t height, int64_t width, double angle, bool expand = false,
                      std::optional<XY> center = std::nullopt);

/// Four corners: top left, top right, bottom right, bottom left.
using Corners = std::array<XY, 4>;

/// Moves `startpoints` to `endpoints`; the result has the image's size. Method: the map of the unit square to four
/// points (Heckbert, "Fundamentals of Texture Mapping and Image Warping", 1989), of both sides. Throws
/// Exception(InvalidArgument) iff a coordinate is out of range, or three of the start points or of the end points lie
/// on one line.
ImageMap perspective_map(int64_t height, int64_t width, const Corners& startpoints, const Corners& endpoints);
/// True iff perspective_map() takes these points: finite, in range, no three on a line.
bool spans_a_plane(const Corners& corners);

}  // namespace headpond

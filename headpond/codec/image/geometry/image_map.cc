// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/geometry/image_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "headpond/base/math/portable.h"
#include "headpond/base/status.h"

namespace headpond {
namespace {

using MapMatrix = std::array<double, 9>;
constexpr double kRadiansOfDegree = 3.14159265358979323846 / 180;

void require_map(bool holds, const std::string& what) {
  if (!holds) throw Exception(Error(ErrorKind::InvalidArgument, what));
}

bool is_within_limit(double value, double limit) { return value >= -limit && value <= limit; }

void check_offset(const char* name, const XY& offset) {
  require_map(is_within_limit(offset[0], kMaxOffset) && is_within_limit(offset[1], kMaxOffset),
              fmt::format("{} is {}, {}: at most {} pixels", name, offset[0], offset[1], kMaxOffset));
}

void check_angle(double angle) {
  require_map(is_within_limit(angle, kMaxAngle), fmt::format("angle is {}: at most {} degrees", angle, kMaxAngle));
}

// Exact for quarter turns.
double sine_of_degrees(double degrees) {
  const double rest = std::fmod(degrees, 360);
  if (std::fmod(rest, 90) != 0) return portable::sin(rest * kRadiansOfDegree);
  constexpr std::array<double, 4> kQuarters = {0, 1, 0, -1};
  return kQuarters[static_cast<size_t>((static_cast<int>(rest / 90) + 4) % 4)];
}
double cosine_of_degrees(double degrees) { return sine_of_degrees(degrees + 90); }

MapMatrix matrix_product(const MapMatrix& a, const MapMatrix& b) {
  MapMatrix all{};
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 3; ++column) {
      for (size_t i = 0; i < 3; ++i) all[3 * row + column] += a[3 * row + i] * b[3 * i + column];
    }
  }
  return all;
}

// The inverse times the determinant.
MapMatrix adjugate(const MapMatrix& m) {
  return {m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
          m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
          m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
}

MapMatrix scaled_matrix(MapMatrix matrix, double by) {
  for (double& value : matrix) value *= by;
  return matrix;
}

// The last value becomes 1 where it can.
MapMatrix normalized_matrix(MapMatrix matrix) {
  const double last = matrix[8];
  if (last == 0) return matrix;
  for (double& value : matrix) value /= last;
  return matrix;
}

MapMatrix matrix_inverse(const MapMatrix& m) {
  const MapMatrix parts = adjugate(m);
  const double determinant = m[0] * parts[0] + m[1] * parts[3] + m[2] * parts[6];
  return scaled_matrix(parts, 1 / determinant);
}

// Around `center`, which goes to center + translate.
MapMatrix to_image_of(const AffineParameters& p, const XY& center) {
  const double cos_shear = cosine_of_degrees(p.shear[1]);
  const double tan_shear = sine_of_degrees(p.shear[0]) / cosine_of_degrees(p.shear[0]);
  const double a = cosine_of_degrees(p.angle - p.shear[1]) / cos_shear;
  const double b = -(a * tan_shear + sine_of_degrees(p.angle));
  const double c = sine_of_degrees(p.angle - p.shear[1]) / cos_shear;
  const double d = cosine_of_degrees(p.angle) - c * tan_shear;
  MapMatrix m = {d / p.scale, -b / p.scale, 0, -c / p.scale, a / p.scale, 0, 0, 0, 1};
  const double x = center[0] + p.translate[0], y = center[1] + p.translate[1];
  m[2] = center[0] - m[0] * x - m[1] * y;
  m[5] = center[1] - m[3] * x - m[4] * y;
  return m;
}

// The extent of [-half, half] after the rotation, in whole pixels. Ten thousandths are cut: rounding must add no pixel.
int64_t rotated_extent(double cos_part, double sin_part, double shift) {
  const double half = std::abs(cos_part) + std::abs(sin_part);
  const auto cut = [](double value) { return std::trunc(value * 1e4) / 1e4; };
  return static_cast<int64_t>(std::ceil(cut(shift + half)) - std::floor(cut(shift - half)));
}

// The unit square to four points.
MapMatrix square_to(const Corners& p) {
  const double sx = p[0][0] - p[1][0] + p[2][0] - p[3][0];
  const double sy = p[0][1] - p[1][1] + p[2][1] - p[3][1];
  const double dx1 = p[1][0] - p[2][0], dx2 = p[3][0] - p[2][0];
  const double dy1 = p[1][1] - p[2][1], dy2 = p[3][1] - p[2][1];
  const double area = dx1 * dy2 - dx2 * dy1;
  const double g = (sx * dy2 - dx2 * sy) / area;
  const double h = (dx1 * sy - sx * dy1) / area;
  return {p[1][0] - p[0][0] + g * p[1][0],
          p[3][0] - p[0][0] + h * p[3][0],
          p[0][0],
          p[1][1] - p[0][1] + g * p[1][1],
          p[3][1] - p[0][1] + h * p[3][1],
          p[0][1],
          g,
          h,
          1};
}

}  // namespace

bool ImageMap::is_identity(int64_t image_height, int64_t image_width) const {
  return to_image == ImageMap().to_image && height == image_height && width == image_width;
}

double divisor(const std::array<double, 9>& matrix, const XY& at) {
  return matrix[6] * at[0] + matrix[7] * at[1] + matrix[8];
}

XY mapped(const std::array<double, 9>& matrix, const XY& at) {
  const double by = divisor(matrix, at);
  return {(matrix[0] * at[0] + matrix[1] * at[1] + matrix[2]) / by,
          (matrix[3] * at[0] + matrix[4] * at[1] + matrix[5]) / by};
}

ImageMap affine_map(int64_t height, int64_t width, const AffineParameters& p) {
  check_angle(p.angle);
  check_offset("translate", p.translate);
  require_map(p.scale >= kMinScale && p.scale <= kMaxScale,
              fmt::format("scale is {}: {} to {} is expected", p.scale, kMinScale, kMaxScale));
  require_map(is_within_limit(p.shear[0], kMaxShear) && is_within_limit(p.shear[1], kMaxShear),
              fmt::format("shear is {}, {}: at most {} degrees", p.shear[0], p.shear[1], kMaxShear));
  const XY middle = {static_cast<double>(width) / 2, static_cast<double>(height) / 2};
  const XY center = p.center.value_or(middle);
  check_offset("center", center);
  const MapMatrix matrix = to_image_of(p, center);
  return {.to_image = matrix, .to_result = matrix_inverse(matrix), .height = height, .width = width};
}

ImageMap rotation_map(int64_t height, int64_t width, double angle, bool expand, std::optional<XY> center) {
  require_map(!expand || !center, "expand rotates about the middle: it takes no center");
  ImageMap map = affine_map(height, width, {.angle = -std::fmod(angle, 360), .center = center});
  check_angle(angle);
  if (!expand) return map;
  const double half_width = static_cast<double>(width) / 2, half_height = static_cast<double>(height) / 2;
  MapMatrix& m = map.to_image;
  const bool is_quarter = m[0] == 0 || m[1] == 0;
  map.width =
      is_quarter ? (m[0] == 0 ? height : width) : rotated_extent(m[0] * half_width, m[1] * half_height, half_width);
  map.height =
      is_quarter ? (m[0] == 0 ? width : height) : rotated_extent(m[3] * half_width, m[4] * half_height, half_height);
  if (map.height > 0 && map.width > kMaxMovedPixels / map.height) {
    throw Exception(Error(
        ErrorKind::ResourceExhausted,
        fmt::format("the rotated image has {} x {} pixels, more than {}", map.height, map.width, kMaxMovedPixels)));
  }
  const XY middle = {static_cast<double>(map.width) / 2, static_cast<double>(map.height) / 2};
  m[2] = half_width - m[0] * middle[0] - m[1] * middle[1];
  m[5] = half_height - m[3] * middle[0] - m[4] * middle[1];
  map.to_result = matrix_inverse(m);
  return map;
}

bool spans_a_plane(const Corners& corners) {
  double largest = 0;
  for (const XY& corner : corners) {
    if (!is_within_limit(corner[0], kMaxOffset) || !is_within_limit(corner[1], kMaxOffset)) return false;
    largest = std::max({largest, std::abs(corner[0] - corners[0][0]), std::abs(corner[1] - corners[0][1])});
  }
  for (size_t left_out = 0; left_out < 4; ++left_out) {
    const XY& a = corners[(left_out + 1) % 4];
    const XY& b = corners[(left_out + 2) % 4];
    const XY& c = corners[(left_out + 3) % 4];
    const double area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    if (std::abs(area) <= 1e-9 * largest * largest) return false;
  }
  return true;
}

ImageMap perspective_map(int64_t height, int64_t width, const Corners& startpoints, const Corners& endpoints) {
  require_map(spans_a_plane(startpoints), "three of the start points lie on a line, or one is out of range");
  require_map(spans_a_plane(endpoints), "three of the end points lie on a line, or one is out of range");
  ImageMap map = {.height = height, .width = width};
  if (startpoints == endpoints) return map;
  const MapMatrix start = square_to(startpoints), end = square_to(endpoints);
  map.to_image = normalized_matrix(matrix_product(start, adjugate(end)));
  map.to_result = normalized_matrix(matrix_product(end, adjugate(start)));
  return map;
}

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// Points and boxes that move with an image. Pure functions, thread-safe; the same bytes on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/codec/image/geometry/image_map.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// Points f32 [n, 2], x and y, where `map` moves them; also those outside the image, and those that leave it. Computed
/// in double. A point on the horizon of a perspective becomes infinite or no number. InvalidArgument iff dtype or shape
/// is another.
Result<Tensor> move_points(const Tensor& points, const ImageMap& map);

/// Boxes as left, top, right, bottom. InvalidArgument, with the row, iff the right edge of one is left of its left one,
/// or the bottom edge above the top one: usually they have another format, as left, top, width, height.
Result<void> check_corners(std::span<const float> boxes);

struct MovedBoxes {
  Tensor boxes;               ///< f32 [rows.size(), 4]
  std::vector<int64_t> rows;  ///< The rows of the boxes that are left, in their order.
};

/// Boxes f32 [n, 4], left, top, right, bottom: the smallest upright box around the four moved corners, cut to the
/// result's edges. Boxes of less than `min_area` square pixels after that are left out, and those that hold a value
/// that is no number. A box that the horizon of a perspective crosses becomes the whole result. InvalidArgument iff
/// dtype or shape is another, and as check_corners().
Result<MovedBoxes> move_boxes(const Tensor& boxes, const ImageMap& map, double min_area);

/// The rows `rows` of a tensor [n, ...] of any dtype: labels of the boxes that are left. InvalidArgument iff the tensor
/// has no rows, or fewer than a number in `rows` asks for.
Result<Tensor> take_rows(const Tensor& tensor, std::span<const int64_t> rows);

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/geometry/move_positions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

namespace headpond {
namespace {

// Infinite beyond float's range, where a cast has no meaning.
float as_float_or_infinite(double value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  if (value > kMost) return std::numeric_limits<float>::infinity();
  if (value < -kMost) return -std::numeric_limits<float>::infinity();
  return static_cast<float>(value);
}

Result<void> check_position_rows(const Tensor& tensor, const char* what, int64_t columns) {
  if (tensor.dtype() == DType::f32 && tensor.rank() == 2 && tensor.dim(1) == columns) return {};
  return fail(ErrorKind::InvalidArgument, fmt::format("{} are float32[n,{}], not {}{}", what, columns,
                                                      name(tensor.dtype()), tensor.shape().to_string()));
}

struct MovedEdges {
  double left, top, right, bottom;
};

MovedEdges moved_hull(const float* box, const ImageMap& map) {
  MovedEdges all = {INFINITY, INFINITY, -INFINITY, -INFINITY};
  int in_front = 0;
  for (const XY& corner : {XY{box[0], box[1]}, XY{box[2], box[1]}, XY{box[2], box[3]}, XY{box[0], box[3]}}) {
    const double by = divisor(map.to_result, corner);
    in_front += by > 0 ? 1 : by < 0 ? -1 : 0;
    const XY at = mapped(map.to_result, corner);
    if (std::isnan(at[0]) || std::isnan(at[1])) return {NAN, NAN, NAN, NAN};
    all = {std::min(all.left, at[0]), std::min(all.top, at[1]), std::max(all.right, at[0]),
           std::max(all.bottom, at[1])};
  }
  const bool is_on_one_side = in_front == 4 || in_front == -4;
  return is_on_one_side ? all : MovedEdges{-INFINITY, -INFINITY, INFINITY, INFINITY};
}

}  // namespace

Result<Tensor> move_points(const Tensor& points, const ImageMap& map) try {
  HEADPOND_TRY(check_position_rows(points, "points", 2));
  Tensor moved = Tensor::empty(DType::f32, points.shape());
  const auto in = points.as<float>();
  const auto out = moved.mutable_as<float>();
  for (size_t i = 0; i + 1 < in.size(); i += 2) {
    const XY at = mapped(map.to_result, {in[i], in[i + 1]});
    out[i] = as_float_or_infinite(at[0]);
    out[i + 1] = as_float_or_infinite(at[1]);
  }
  return moved;
} catch (const std::exception&) {
  return fail(current_exception_error());
}

Result<void> check_corners(std::span<const float> boxes) {
  for (size_t i = 0; i + 3 < boxes.size(); i += 4) {
    const std::span<const float> box = boxes.subspan(i, 4);
    if (!(box[2] < box[0]) && !(box[3] < box[1])) continue;
    return fail(ErrorKind::InvalidArgument, fmt::format("boxes, row {}: [{}]: left, top, right, bottom were expected",
                                                        i / 4, fmt::join(box, ", ")));
  }
  return {};
}

Result<MovedBoxes> move_boxes(const Tensor& boxes, const ImageMap& map, double min_area) try {
  HEADPOND_TRY(check_position_rows(boxes, "boxes", 4));
  const auto in = boxes.as<float>();
  HEADPOND_TRY(check_corners(in));
  const auto width = static_cast<double>(map.width), height = static_cast<double>(map.height);
  std::vector<float> left_over;
  MovedBoxes moved;
  for (int64_t i = 0; i < boxes.dim(0); ++i) {
    const MovedEdges box = moved_hull(in.data() + 4 * i, map);
    if (std::isnan(box.left)) continue;
    const MovedEdges cut = {std::clamp(box.left, 0.0, width), std::clamp(box.top, 0.0, height),
                            std::clamp(box.right, 0.0, width), std::clamp(box.bottom, 0.0, height)};
    if (!((cut.right - cut.left) * (cut.bottom - cut.top) >= min_area)) continue;
    moved.rows.push_back(i);
    for (const double edge : {cut.left, cut.top, cut.right, cut.bottom})
      left_over.push_back(as_float_or_infinite(edge));
  }
  moved.boxes = Tensor::from(left_over, {static_cast<int64_t>(moved.rows.size()), 4});
  return moved;
} catch (const std::exception&) {
  return fail(current_exception_error());
}

Result<Tensor> take_rows(const Tensor& tensor, std::span<const int64_t> rows) try {
  const int64_t count = tensor.rank() == 0 ? 0 : tensor.dim(0);
  const bool are_there = std::ranges::all_of(rows, [&](int64_t row) { return row >= 0 && row < count; });
  if (tensor.rank() == 0 || !are_there) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}{} has no row for each box", name(tensor.dtype()), tensor.shape().to_string()));
  }
  const Shape row = tensor.shape().row();
  const Shape shape = row.stacked(static_cast<int64_t>(rows.size()));
  const auto values = static_cast<size_t>(*row.size());
  if (tensor.dtype() == DType::bytes) {
    std::vector<std::string_view> texts;
    for (const int64_t from : rows) {
      for (size_t i = 0; i < values; ++i)
        texts.push_back(tensor.bytes_at(from * *row.size() + static_cast<int64_t>(i)));
    }
    return Tensor::from(std::span<const std::string_view>(texts), shape);
  }
  Tensor taken = Tensor::empty(tensor.dtype(), shape);
  const size_t row_bytes = values * item_size(tensor.dtype());
  std::byte* to = taken.mutable_data();
  for (const int64_t from : rows) {
    if (row_bytes > 0) std::memcpy(to, tensor.data() + static_cast<size_t>(from) * row_bytes, row_bytes);
    to += row_bytes;
  }
  return taken;
} catch (const std::exception&) {
  return fail(current_exception_error());
}

}  // namespace headpond

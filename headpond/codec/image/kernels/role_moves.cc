// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "headpond/codec/image/geometry/move_positions.h"
#include "headpond/codec/image/geometry/warp_fields_internal.h"
#include "headpond/codec/image/kernels/role_moves_internal.h"

namespace headpond::image_internal {
namespace {

struct Box {
  float left, top, right, bottom;
};

float scaled(float at, int64_t to, int64_t from) {
  return static_cast<float>(static_cast<double>(at) * static_cast<double>(to) / static_cast<double>(from));
}

float moved_y(const Move& move, float y) {
  if (move.kind == Move::Kind::window) return y - static_cast<float>(move.window.y);
  if (move.kind == Move::Kind::resize) return scaled(y, move.new_height, move.height);
  return move.kind == Move::Kind::flip_rows ? static_cast<float>(move.height) - y : y;
}

float moved_x(const Move& move, float x) {
  if (move.kind == Move::Kind::window) return x - static_cast<float>(move.window.x);
  if (move.kind == Move::Kind::resize) return scaled(x, move.new_width, move.width);
  return move.kind == Move::Kind::flip_columns ? static_cast<float>(move.width) - x : x;
}

// False iff the box is dropped. Each stage rounds, so that joined kernels give the same bits.
bool move_box(const Geometry& geometry, Box& box) {
  for (const Move& move : geometry.moves) {
    box = {moved_x(move, box.left), moved_y(move, box.top), moved_x(move, box.right), moved_y(move, box.bottom)};
    if (move.kind == Move::Kind::flip_columns) std::swap(box.left, box.right);
    if (move.kind == Move::Kind::flip_rows) std::swap(box.top, box.bottom);
    if (move.kind != Move::Kind::window) continue;
    const auto width = static_cast<float>(move.new_width), height = static_cast<float>(move.new_height);
    box = {std::clamp(box.left, 0.0F, width), std::clamp(box.top, 0.0F, height), std::clamp(box.right, 0.0F, width),
           std::clamp(box.bottom, 0.0F, height)};
    const double area = (static_cast<double>(box.right) - static_cast<double>(box.left)) *
                        (static_cast<double>(box.bottom) - static_cast<double>(box.top));
    // A box of NaN is dropped too.
    if (move.drops && !(area >= move.min_area)) return false;
  }
  return true;
}

tl::unexpected<Error> refuse_field(FieldRole role, const Tensor& field, std::string_view expected) {
  return fail(ErrorKind::InvalidArgument, fmt::format("{} {}{}: {} was expected", name(role), name(field.dtype()),
                                                      field.shape().to_string(), expected));
}

Result<void> move_mask(const Geometry& geometry, KernelCall& call, size_t i, ImageScratch& scratch) {
  const Tensor& mask = call.in(i);
  const size_t item = item_size(mask.dtype());
  const bool has_size = (mask.rank() == 2 || (mask.rank() == 3 && mask.dim(2) == 1)) &&
                        mask.dim(0) == geometry.height && mask.dim(1) == geometry.width && item > 0;
  if (!has_size) {
    return refuse_field(FieldRole::mask, mask, fmt::format("the image's [{},{}]", geometry.height, geometry.width));
  }
  map_axis(geometry, true, scratch.taps, scratch.down);
  map_axis(geometry, false, scratch.taps, scratch.across);
  const int64_t height = geometry.out_height(), width = geometry.out_width();
  std::array<std::byte, sizeof(int64_t)> fill = {};
  const double value =
      geometry.padding != nullptr && geometry.padding->mode == PadMode::constant ? geometry.padding->mask_fill : 0;
  if (!warp_internal::put_number(mask.dtype(), value, fill.data()))
    return fail(ErrorKind::InvalidArgument, fmt::format("mask_fill is {}: no value of {}", value, name(mask.dtype())));
  std::byte* to = call.make(i, mask.dtype(), mask.rank() == 2 ? Shape{height, width} : Shape{height, width, 1});
  for (const int64_t y : scratch.down) {
    const std::byte* const row = mask.data() + static_cast<size_t>(std::max<int64_t>(y, 0) * geometry.width) * item;
    for (const int64_t x : scratch.across) {
      if (y < 0 || x < 0) {
        std::memcpy(to, fill.data(), item);
      } else {
        std::memcpy(to, row + static_cast<size_t>(x) * item, item);
      }
      to += item;
    }
  }
  return {};
}

Result<void> move_points(const Geometry& geometry, KernelCall& call, size_t i) {
  const Tensor& points = call.in(i);
  if (points.dtype() != DType::f32 || points.rank() != 2 || points.dim(1) != 2) {
    return refuse_field(FieldRole::points, points, "float32 [n,2]");
  }
  const auto from = points.as<float>();
  const auto to = call.make<float>(i, points.shape());
  for (size_t k = 0; k < from.size(); k += 2) {
    float x = from[k], y = from[k + 1];
    for (const Move& move : geometry.moves) {
      x = moved_x(move, x);
      y = moved_y(move, y);
    }
    to[k] = x;
    to[k + 1] = y;
  }
  return {};
}

// Sets `kept` to the rows of the boxes that remain.
Result<void> move_boxes(const Geometry& geometry, KernelCall& call, size_t i, std::vector<int64_t>& kept) {
  const Tensor& boxes = call.in(i);
  if (boxes.dtype() != DType::f32 || boxes.rank() != 2 || boxes.dim(1) != 4) {
    return refuse_field(FieldRole::boxes, boxes, "float32 [n,4]");
  }
  const auto from = boxes.as<float>();
  HEADPOND_TRY(check_corners(from));
  std::vector<Box> all;
  kept.clear();
  for (size_t k = 0; k < from.size(); k += 4) {
    Box box = {from[k], from[k + 1], from[k + 2], from[k + 3]};
    if (!move_box(geometry, box)) continue;
    all.push_back(box);
    kept.push_back(static_cast<int64_t>(k / 4));
  }
  const auto to = call.make<float>(i, {static_cast<int64_t>(all.size()), 4});
  if (!all.empty()) std::memcpy(to.data(), all.data(), all.size() * sizeof(Box));
  return {};
}

Result<void> keep_labels(KernelCall& call, size_t i, int64_t boxes, const std::vector<int64_t>& kept) {
  const Tensor& labels = call.in(i);
  if (labels.rank() == 0 || labels.dim(0) != boxes) {
    return refuse_field(FieldRole::labels, labels, fmt::format("a row for each of {} boxes", boxes));
  }
  if (kept.size() == static_cast<size_t>(boxes)) return {};
  auto rows = take_rows(labels, kept);
  if (!rows) return fail(std::move(rows).error());
  call.set(i, *std::move(rows));
  return {};
}

}  // namespace

Result<void> move_roles(const Geometry& geometry, KernelCall& call, ImageScratch& scratch) {
  std::vector<int64_t> kept;
  int64_t boxes = -1;
  for (size_t i = 1; i < call.size(); ++i) {
    if (call.role(i) == FieldRole::mask) HEADPOND_TRY(move_mask(geometry, call, i, scratch));
    if (call.role(i) == FieldRole::points) HEADPOND_TRY(move_points(geometry, call, i));
    if (call.role(i) != FieldRole::boxes) continue;
    HEADPOND_TRY(move_boxes(geometry, call, i, kept));
    boxes = call.in(i).dim(0);
  }
  for (size_t i = 1; i < call.size() && boxes >= 0; ++i) {
    if (call.role(i) == FieldRole::labels) HEADPOND_TRY(keep_labels(call, i, boxes, kept));
  }
  return {};
}

}  // namespace headpond::image_internal

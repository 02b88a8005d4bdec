// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "headpond/codec/image/geometry/move_positions.h"
#include "headpond/codec/image/geometry/warp_fields_internal.h"

namespace headpond::warp_internal {
namespace {

[[noreturn]] void refuse_field(const std::string& op, const std::string& what) {
  throw Exception(Error(ErrorKind::InvalidArgument, op + ": " + what));
}

void require_fill(const std::string& op, DType dtype, int64_t channels, const WarpOptions& options) {
  // Where the channels aren't known, one channel for each fill value.
  const int64_t count = channels == kUnknown ? static_cast<int64_t>(options.fill.size()) : channels;
  if (const auto fits = check_warp(dtype, count, options); !fits) refuse_field(op, fits.error().message());
}

std::string text_of(const FieldSpec& field) { return fmt::format("{}{}", name(field.dtype), field.shape.to_string()); }

void check_picture(const std::string& op, const FieldSpec& field, const WarpOptions& options) {
  const bool is_image = (field.dtype == DType::u8 || field.dtype == DType::f32) && field.shape.rank() == 3;
  const int64_t channels = is_image ? field.shape[2] : 0;
  if (!is_image || (channels != kUnknown && (channels < 1 || channels > 4))) {
    refuse_field(op, "takes uint8 or float32 [height, width, 1 to 4 channels], not " + text_of(field));
  }
  require_fill(op, field.dtype, channels, options);
}

void check_mask(const std::string& op, const FieldSpec& field, double fill) {
  const int rank = field.shape.rank();
  const bool is_mask =
      field.dtype != DType::bytes && (rank == 2 || (rank == 3 && (field.shape[2] == 1 || field.shape[2] == kUnknown)));
  if (!is_mask) refuse_field(op, "takes masks [height, width] of whole numbers, not " + text_of(field));
  std::array<std::byte, sizeof(int64_t)> value;
  if (!put_number(field.dtype, fill, value.data()))
    refuse_field(op, fmt::format("mask_fill is {}: no value of {}", fill, name(field.dtype)));
}

void check_positions(const std::string& op, const FieldSpec& field, int64_t columns) {
  const Shape& shape = field.shape;
  if (field.dtype == DType::f32 && shape.rank() == 2 && (shape[1] == columns || shape[1] == kUnknown)) return;
  refuse_field(op, fmt::format("takes {} as float32[?,{}], not {}", field.name, columns, text_of(field)));
}

Shape with_rows(const Shape& shape, int64_t rows) {
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[0] = rows;
  return Shape(dims);
}

Shape with_size(const Shape& shape, ResultSize size) {
  return shape.rank() == 2 ? Shape{size.height, size.width} : Shape{size.height, size.width, shape[2]};
}

Result<void> warp_picture(KernelCall& call, size_t i, const ImageMap& map, const WarpOptions& options) {
  const Tensor& in = call.in(i);
  if (in.rank() < 2 || in.dim(0) != call.in(0).dim(0) || in.dim(1) != call.in(0).dim(1)) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{} {} beside an image {}", name(call.role(i)),
                                                        in.shape().to_string(), call.in(0).shape().to_string()));
  }
  HEADPOND_TRY(check_warp(in.dtype(), in.rank() == 3 ? in.dim(2) : 1, options));
  if (map.is_identity(in.dim(0), in.dim(1))) return {};
  const Shape shape = with_size(in.shape(), {map.height, map.width});
  return warp_into(in, map, options, call.make(i, in.dtype(), shape));
}

// Boxes, and the labels of those that are left.
Result<void> warp_boxes(KernelCall& call, size_t at, const ImageMap& map, double min_area) {
  const Tensor& in = call.in(at);
  auto moved = move_boxes(in, map, min_area);
  if (!moved) return fail(moved.error());
  for (size_t i = 0; i < call.size(); ++i) {
    if (call.role(i) != FieldRole::labels) continue;
    const Tensor& labels = call.in(i);
    if (labels.rank() == 0 || labels.dim(0) != in.dim(0)) {
      return fail(ErrorKind::InvalidArgument,
                  fmt::format("labels {} for {} boxes", labels.shape().to_string(), in.dim(0)));
    }
    auto kept = take_rows(labels, moved->rows);
    if (!kept) return fail(kept.error());
    call.set(i, std::move(*kept));
  }
  call.set(at, std::move(moved->boxes));
  return {};
}

Result<void> warp_field(KernelCall& call, size_t i, const ImageMap& map, const FieldOptions& options) {
  switch (call.role(i)) {
    case FieldRole::image:
      return warp_picture(call, i, map, options.image);
    case FieldRole::mask:
      if (call.in(i).rank() == 3 && call.in(i).dim(2) != 1) {
        return fail(ErrorKind::InvalidArgument,
                    fmt::format("mask {}: [height, width] was expected", call.in(i).shape().to_string()));
      }
      return warp_picture(call, i, map, {.interpolation = Interpolation::nearest, .fill = {options.mask_fill}});
    case FieldRole::boxes:
      return warp_boxes(call, i, map, options.min_area);
    case FieldRole::points: {
      auto moved = move_points(call.in(i), map);
      if (!moved) return fail(moved.error());
      call.set(i, std::move(*moved));
      return {};
    }
    case FieldRole::labels:
      return {};
  }
  return {};
}

}  // namespace

Spec moved_spec(const std::string& op, Spec spec, const FieldOptions& options,
                const std::function<ResultSize(int64_t, int64_t)>& size) {
  const bool has_boxes = std::ranges::any_of(spec, [](const auto& one) { return role_of(one) == FieldRole::boxes; });
  for (FieldSpec& field : spec) {
    switch (role_of(field)) {
      case FieldRole::image:
        check_picture(op, field, options.image);
        field.shape = with_size(field.shape, size(field.shape[0], field.shape[1]));
        break;
      case FieldRole::mask:
        check_mask(op, field, options.mask_fill);
        field.shape = with_size(field.shape, size(field.shape[0], field.shape[1]));
        break;
      case FieldRole::boxes:
        check_positions(op, field, 4);
        field.shape = {kUnknown, 4};
        break;
      case FieldRole::labels:
        if (has_boxes && field.shape.rank() == 0) refuse_field(op, "takes labels [n, ...], not " + text_of(field));
        if (has_boxes) field.shape = with_rows(field.shape, kUnknown);
        break;
      case FieldRole::points:
        check_positions(op, field, 2);
        break;
    }
  }
  return spec;
}

Result<WarpSize> image_size(const Tensor& image) {
  if (image.rank() == 3) return WarpSize{image.dim(0), image.dim(1)};
  return fail(ErrorKind::InvalidArgument, "takes [height, width, channels], not " + image.shape().to_string());
}

Result<void> warp_fields(KernelCall& call, const ImageMap& map, const FieldOptions& options) {
  for (size_t i = 0; i < call.size(); ++i) HEADPOND_TRY(warp_field(call, i, map, options));
  return {};
}

void check_options(const std::string& op, const FieldOptions& options) {
  const auto& fill = options.image.fill;
  if (fill.empty() || fill.size() > 4) refuse_field(op, "fill must have 1 to 4 values");
  const bool are_finite = std::ranges::all_of(fill, [](double value) { return std::isfinite(value); });
  if (!are_finite) refuse_field(op, "a value of fill is not finite");
  if (!std::isfinite(options.mask_fill)) refuse_field(op, "mask_fill must be finite");
  if (!(options.min_area >= 0)) refuse_field(op, "min_area must be 0 or more");
}

}  // namespace headpond::warp_internal

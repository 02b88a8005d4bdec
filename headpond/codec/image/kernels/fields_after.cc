// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "headpond/codec/image/geometry/warp_fields_internal.h"
#include "headpond/codec/image/kernels/image_chain_internal.h"

namespace headpond::image_internal {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Exception(Error(ErrorKind::InvalidArgument, what)); }

// The image, whatever its layout, while the stages are followed.
struct Pixels {
  int64_t height, width, channels;
};

Pixels pixels_of(const FieldSpec& image) {
  const bool is_image = (image.dtype == DType::u8 || image.dtype == DType::f32) && image.shape.rank() == 3;
  const int64_t channels = is_image ? image.shape[2] : 0;
  if (is_image && (channels == kUnknown || (channels >= 1 && channels <= 4))) {
    return {image.shape[0], image.shape[1], channels};
  }
  refuse(fmt::format("takes uint8 or float32 [height,width,channels] with 1 to 4 channels, not {}{}", name(image.dtype),
                     image.shape.to_string()));
}

bool has_boxes(const Spec& fields) {
  return std::ranges::any_of(fields, [](const FieldSpec& field) { return role_of(field) == FieldRole::boxes; });
}

// The field's two first dimensions or, of boxes and points, the kind of its rows. Labels without boxes may be anything.
void check_role(const FieldSpec& field, const FieldSpec& image, bool with_boxes) {
  const FieldRole role = role_of(field);
  const Shape& shape = field.shape;
  const auto fits = [](int64_t a, int64_t b) { return a == kUnknown || b == kUnknown || a == b; };
  bool is_fine = true;
  if (role == FieldRole::mask) {
    is_fine = field.dtype != DType::bytes && (shape.rank() == 2 || (shape.rank() == 3 && fits(shape[2], 1))) &&
              fits(shape[0], image.shape[0]) && fits(shape[1], image.shape[1]);
  } else if (role == FieldRole::boxes || role == FieldRole::points) {
    is_fine = field.dtype == DType::f32 && shape.rank() == 2 && fits(shape[1], role == FieldRole::boxes ? 4 : 2);
  } else if (role == FieldRole::labels) {
    is_fine = shape.rank() > 0 || !with_boxes;
  }
  if (is_fine) return;
  refuse(fmt::format("the {} can't be {}{} with an image {}", name(role), name(field.dtype), shape.to_string(),
                     image.shape.to_string()));
}

Shape with_dim(const Shape& shape, int axis, int64_t dim) {
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[static_cast<size_t>(axis)] = dim;
  return Shape(dims);
}

void decode_fields(const DecodeStage& stage, Spec& fields) {
  FieldSpec& image = fields[0];
  if (image.dtype != DType::bytes || image.shape.rank() != 0) {
    refuse(fmt::format("takes bytes[], not {}{}", name(image.dtype), image.shape.to_string()));
  }
  image.dtype = stage.dtype();
  image.shape = {kUnknown, kUnknown, stage.channels() == 0 ? kUnknown : stage.channels()};
}

// Throws for a value of the padding that the image, or the mask, cannot have.
void check_fill(const WindowStage& window, const Spec& fields, int64_t channels) {
  if (!window.may_pad || window.mode != PadMode::constant) return;
  const auto count = static_cast<int64_t>(window.fill.size());
  if (count != 1 && channels != kUnknown && count != channels)
    refuse(fmt::format("{} values fill an image of {} channels", count, channels));
  for (const double value : window.fill) {
    const double rounded = std::floor(value + 0.5);
    if (fields[0].dtype == DType::u8 && !(rounded >= 0 && rounded <= 255))
      refuse(fmt::format("fill is {}: no value of uint8", value));
  }
  for (const FieldSpec& field : fields) {
    std::array<std::byte, sizeof(int64_t)> bytes;
    if (role_of(field) == FieldRole::mask && !warp_internal::put_number(field.dtype, window.mask_fill, bytes.data()))
      refuse(fmt::format("mask_fill is {}: no value of {}", window.mask_fill, name(field.dtype)));
  }
}

// What a stage that moves pixels makes of the sides.
void move_fields(const Stage& stage, Spec& fields) {
  Pixels image = pixels_of(fields[0]);
  const bool with_boxes = has_boxes(fields);
  for (const FieldSpec& field : fields) check_role(field, fields[0], with_boxes);
  bool drops = false;
  if (const auto* const window = stage.as<WindowStage>()) {
    check_fill(*window, fields, image.channels);
    const auto side = [&](int64_t before, int64_t own) {
      if (!window->grows) return own;
      return before == kUnknown ? kUnknown : before + own;
    };
    image.height = side(image.height, window->height);
    image.width = side(image.width, window->width);
    drops = window->drops && with_boxes;
  } else if (const auto* const resize = stage.as<ResizeStage>()) {
    if (!resize->size.is_one_number()) {
      image.height = resize->size.height;
      image.width = resize->size.width;
    } else if (image.height > 0 && image.width > 0) {
      std::tie(image.height, image.width) = resized_sides(*resize, image.height, image.width);
    } else {
      image.height = image.width = kUnknown;
    }
  }
  fields[0].shape = {image.height, image.width, image.channels};
  for (size_t i = 1; i < fields.size(); ++i) {
    const FieldRole role = role_of(fields[i]);
    Shape& shape = fields[i].shape;
    if (role == FieldRole::mask) shape = with_dim(with_dim(shape, 0, image.height), 1, image.width);
    if ((role == FieldRole::boxes || role == FieldRole::labels) && drops) shape = with_dim(shape, 0, kUnknown);
  }
}

void normalize_fields(const NormalizeStage& stage, Spec& fields) {
  const Pixels image = pixels_of(fields[0]);
  const auto means = static_cast<int64_t>(stage.options.mean.size());
  if (means != 1 && image.channels != kUnknown && image.channels != means) {
    refuse(fmt::format("has {} means for an image of {} channels", means, image.channels));
  }
  fields[0].dtype = stage.options.dtype;
  const bool is_chw = stage.options.layout == ImageLayout::chw;
  fields[0].shape =
      is_chw ? Shape{image.channels, image.height, image.width} : Shape{image.height, image.width, image.channels};
}

}  // namespace

Spec fields_after(const Stages& stages, Spec fields) {
  for (const Stage& stage : stages) {
    if (const auto* const decode = stage.as<DecodeStage>()) {
      decode_fields(*decode, fields);
    } else if (const auto* const normalize = stage.as<NormalizeStage>()) {
      normalize_fields(*normalize, fields);
    } else {
      move_fields(stage, fields);
    }
  }
  return fields;
}

}  // namespace headpond::image_internal

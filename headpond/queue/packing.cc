// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/packing_internal.h"

namespace headpond::internal {
namespace {

bool is_small(DType dtype, const Shape& shape) {
  const auto values = shape.is_full() ? shape.size() : std::nullopt;
  return dtype != DType::bytes && shape.rank() <= 4 && values &&
         *values <= static_cast<int64_t>(sizeof(Tensor::Rep::payload));
}

constexpr size_t rounded_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Packing::Packing(const std::vector<DType>& dtypes, const std::vector<Shape>& shapes) : components_(dtypes.size()) {
  size_t offset = kHeader;
  for (size_t i = 0; i < shapes.size() && is_small(dtypes[i], shapes[i]); ++i) {
    const Tensor like = Tensor::empty(dtypes[i], shapes[i]);
    const size_t size = like.byte_size();
    Tensor copy = like;
    const Tensor::Rep rep = std::move(copy).release();
    if (!rep.is_inline || rep.has_long_dims) {
      (void)Tensor::adopt(rep);
      break;
    }
    offset = rounded_up(offset, item_size(dtypes[i]));
    fields_.push_back({.offset = offset, .size = size, .like = rep});
    offset += size;
  }
  if (fields_.size() < components_) fields_.clear();
  bytes_ = is_plain() ? rounded_up(offset, sizeof(uint64_t)) : kHeader + components_ * sizeof(Tensor::Rep);
}

void Packing::pack_rows(const Element& rows, int64_t first, int64_t count, std::byte* place, size_t stride) const {
  for (int64_t row = 0; row < count; ++row) write_identity(rows, place + static_cast<size_t>(row) * stride);
  for (size_t i = 0; i < components_; ++i) {
    const Field field = fields_[i];
    const std::byte* from = rows[i].data() + static_cast<size_t>(first) * field.size;
    std::byte* to = place;
    for (int64_t row = 0; row < count; ++row, from += field.size, to += stride) write_value(field, from, to);
  }
}

void Packing::unpack_values(const std::byte* places, int64_t count, Element& batch) const {
  for (size_t i = 0; i < components_; ++i) {
    const Field field = fields_[i];
    std::byte* to = batch[i].mutable_data();
    const std::byte* from = places;
    for (int64_t row = 0; row < count; ++row, to += field.size, from += bytes_) read_value(field, from, to);
  }
}

void Packing::destroy(const std::byte* place) const {
  for (size_t i = 0; i < components_ && !is_plain(); ++i) {
    Tensor::Rep rep;
    std::memcpy(&rep, place + kHeader + i * sizeof(rep), sizeof(rep));
    (void)Tensor::adopt(rep);
  }
}

int64_t Packing::first_value(const std::byte* place) const {
  int64_t value = 0;
  if (is_plain()) {
    std::memcpy(&value, place + fields_[0].offset, sizeof(value));
  } else {
    Tensor::Rep rep;
    std::memcpy(&rep, place + kHeader, sizeof(rep));
    std::memcpy(&value, rep.is_inline ? rep.payload.bytes : rep.payload.pointer, sizeof(value));
  }
  return value;
}

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "headpond/queue/packing_internal.h"

namespace headpond::internal {
namespace {

bool is_small(DType dtype, const Shape& shape) {
  const auto values = shape.is_full() ? shape.size() : std::nullopt;
  return dtype != DType::bytes && shape.rank() <= 4 && values &&
         *values <= static_cast<int64_t>(sizeof(Tensor::Rep::payload));
}

// `count` values of `size` bytes.
template <size_t size>
void copy_each(std::byte* to, size_t to_step, const std::byte* from, size_t from_step, int64_t count) {
  for (; count > 0; --count, to += to_step, from += from_step) std::memcpy(to, from, size);
}
void copy_each(size_t size, std::byte* to, size_t to_step, const std::byte* from, size_t from_step, int64_t count) {
  if (size == 8) return copy_each<8>(to, to_step, from, from_step, count);
  if (size == 4) return copy_each<4>(to, to_step, from, from_step, count);
  for (; count > 0; --count, to += to_step, from += from_step) std::memcpy(to, from, size);
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
  std::array<std::byte, kHeader> identity;
  write_identity(rows, identity.data());
  for (int64_t row = 0; row < count; ++row) {
    std::memcpy(place + static_cast<size_t>(row) * stride, identity.data(), kHeader);
  }
  for (size_t i = 0; i < components_; ++i) {
    const size_t size = fields_[i].size;
    copy_each(size, place + fields_[i].offset, stride, rows[i].data() + static_cast<size_t>(first) * size, size, count);
  }
}

void Packing::unpack_rows(const std::byte* place, size_t stride, int64_t first, int64_t count, Element& batch) const {
  for (size_t i = 0; i < components_; ++i) {
    const size_t size = fields_[i].size;
    std::byte* const to = batch[i].mutable_data() + static_cast<size_t>(first) * size;
    copy_each(size, to, size, place + fields_[i].offset, stride, count);
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
    std::memcpy(&value, rep.data(), sizeof(value));
  }
  return value;
}

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/store/packing_internal.h"

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
  if (size == 0) return;  // `from` may be null.
  for (; count > 0; --count, to += to_step, from += from_step) std::memcpy(to, from, size);
}

// What stands in front of an element's values.
struct Identity {
  uint64_t key;
  Provenance provenance;
};

// `count` elements of one identity, with `size` bytes of values after each.
template <size_t size>
void pack_each(const Identity& identity, std::byte* to, size_t to_step, const std::byte* values, int64_t count) {
  for (; count > 0; --count, to += to_step, values += size) {
    std::memcpy(to, &identity, sizeof(identity));
    if constexpr (size != 0) std::memcpy(to + sizeof(identity), values, size);
  }
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
    if (!rep.is_inline() || rep.has_long_dims) {
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

void Packing::pack_rows(const Element& rows, int64_t first, int64_t count, std::byte* slot, size_t stride) const {
  static_assert(sizeof(Identity) == kHeader);
  const Identity identity{rows.key, rows.provenance};
  const auto values = [&](size_t i) { return rows[i].data() + static_cast<size_t>(first) * fields_[i].size; };
  const bool is_word = fields_[0].size == 8;
  is_word ? pack_each<8>(identity, slot, stride, values(0), count)
          : pack_each<0>(identity, slot, stride, values(0), count);
  for (size_t i = is_word ? 1 : 0; i < components_; ++i) {
    copy_each(fields_[i].size, slot + fields_[i].offset, stride, values(i), fields_[i].size, count);
  }
}

void Packing::unpack_rows(const std::byte* slot, size_t stride, int64_t first, int64_t count, Element& batch) const {
  for (size_t i = 0; i < components_; ++i) {
    const size_t size = fields_[i].size;
    std::byte* const to = batch[i].mutable_data() + static_cast<size_t>(first) * size;
    copy_each(size, to, size, slot + fields_[i].offset, stride, count);
  }
}

int64_t Packing::payload_bytes(std::span<const std::byte> slots) const {
  size_t total = 0;
  for (; !slots.empty(); slots = slots.subspan(bytes_)) {
    for (size_t i = 0; i < components_; ++i) {
      Tensor::Rep rep;
      std::memcpy(&rep, slots.data() + kHeader + i * sizeof(rep), sizeof(rep));
      Tensor tensor = Tensor::adopt(rep);
      total += tensor.byte_size();
      (void)std::move(tensor).release();
    }
  }
  return static_cast<int64_t>(total);
}

void Packing::destroy(const std::byte* slot) const {
  for (size_t i = 0; i < components_ && !is_plain(); ++i) {
    Tensor::Rep rep;
    std::memcpy(&rep, slot + kHeader + i * sizeof(rep), sizeof(rep));
    (void)Tensor::adopt(rep);
  }
}

int64_t Packing::first_value(const std::byte* slot) const {
  int64_t value = 0;
  if (is_plain()) {
    std::memcpy(&value, slot + fields_[0].offset, sizeof(value));
  } else {
    Tensor::Rep rep;
    std::memcpy(&rep, slot + kHeader, sizeof(rep));
    std::memcpy(&value, rep.data(), sizeof(value));
  }
  return value;
}

}  // namespace headpond::internal

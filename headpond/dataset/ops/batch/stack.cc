// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/ops/batch/stack_internal.h"

namespace headpond::internal {
namespace {

bool same_shape(const Tensor& a, const Tensor& b) {
  if (a.rank() != b.rank()) return false;
  for (int axis = 0; axis < a.rank(); ++axis) {
    if (a.dim(axis) != b.dim(axis)) return false;
  }
  return true;
}

Tensor stack_texts(std::span<const Element> rows, size_t field, const Shape& shape) {
  std::vector<std::string_view> texts;
  for (const Element& row : rows) {
    const int64_t count = row[field].size();
    for (int64_t i = 0; i < count; ++i) texts.push_back(row[field].bytes_at(i));
  }
  return Tensor::from(std::span<const std::string_view>(texts), shape);
}

Error unlike(const Element& first, const Element& row, const std::string& what) {
  return {ErrorKind::InvalidArgument, fmt::format("Cannot batch {} ({} and {})", what,
                                                  place_of(first.key, first.origin), place_of(row.key, row.origin))};
}

}  // namespace

Error check_same_shapes(const Element& first, int64_t number, const Element& row) {
  if (row.size() != first.size()) {
    return unlike(first, row,
                  fmt::format("elements with different numbers of components. First element had {} and element {} had "
                              "{}",
                              first.size(), number, row.size()));
  }
  for (size_t i = 0; i < first.size(); ++i) {
    if (row[i].dtype() != first[i].dtype()) {
      return unlike(
          first, row,
          fmt::format("tensors with different dtypes in component {}. First element had {} and element {} had "
                      "{}",
                      i, name(first[i].dtype()), number, name(row[i].dtype())));
    }
    if (same_shape(first[i], row[i])) continue;
    return unlike(
        first, row,
        fmt::format("tensors with different shapes in component {}. First element had shape {} and element {} "
                    "had shape {}",
                    i, first[i].shape().to_string(), number, row[i].shape().to_string()));
  }
  return {};
}

void stack_field(std::span<const Element> rows, size_t field, Context& context, Offers offers, Element& out) {
  const Tensor& first = rows[0][field];
  const Shape shape = first.shape().stacked(static_cast<int64_t>(rows.size()));
  if (first.dtype() == DType::bytes) {
    out.append(stack_texts(rows, field, shape));
    return;
  }
  std::byte* place = context.make(out, offers, first.dtype(), shape);
  const size_t row_bytes = first.byte_size();
  if (row_bytes == 0) return;
  for (const Element& row : rows) {
    std::memcpy(place, row[field].data(), row_bytes);
    place += row_bytes;
  }
}

Stack::Stack(const Spec& spec, int64_t count, Context& context, Offers offers, Element& out)
    : context_(context), offers_(offers), out_(out) {
  for (const FieldSpec& field : spec) {
    places_.push_back({nullptr, &field});
    if (field.dtype != DType::bytes && field.shape.is_full()) {
      places_.back().place = context.make(out, offers, field.dtype, field.shape.stacked(count));
    } else {
      out.append(Tensor());
      has_loose_ = true;
    }
  }
  // Once more: a small tensor lives inside `out`, which moves it when it grows.
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].place != nullptr) places_[i].place = out[i].mutable_data();
  }
}

void Stack::add(Element row) {
  for (size_t i = 0; i < places_.size(); ++i) {
    std::byte*& place = places_[i].place;
    if (place == nullptr) continue;
    const size_t size = row[i].byte_size();
    if (size != 0 && row[i].data() != place) std::memcpy(place, row[i].data(), size);
    place += size;
  }
  if (has_loose_ || kept_.empty()) kept_.push_back(std::move(row));
}

void Stack::finish() {
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].place != nullptr) continue;
    Element field;
    stack_field(kept_, i, context_, offers_.empty() ? offers_ : offers_.subspan(i, 1), field);
    out_[i] = std::move(field[size_t{0}]);
  }
}

}  // namespace headpond::internal

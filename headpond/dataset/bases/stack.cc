// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "headpond/dataset/bases/stack_internal.h"
#include "headpond/dataset/dataset.h"

namespace headpond::internal {
namespace {

bool same_shape(const Tensor& a, const Tensor& b) {
  if (a.rank() != b.rank()) return false;
  for (int axis = 0; axis < a.rank(); ++axis) {
    if (a.dim(axis) != b.dim(axis)) return false;
  }
  return true;
}

Error unlike(const Element& first, const Element& row, const std::string& what, std::string_view hint = "") {
  return {ErrorKind::InvalidArgument,
          fmt::format("Cannot batch {} ({} and {}){}", what, element_name(first.key, first.provenance),
                      element_name(row.key, row.provenance), hint)};
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
                    i, first[i].shape().to_string(), number, row[i].shape().to_string()),
        row[i].rank() == first[i].rank() ? "; padded_batch pads rows to one shape" : "");
  }
  return {};
}

void join_values(std::span<const Element> rows, size_t field, const Shape& shape, Context& context, OutputSlots outputs,
                 Element& out) {
  const DType dtype = rows[0][field].dtype();
  if (dtype == DType::bytes) {
    std::vector<std::string_view> texts;
    for (const Element& row : rows) {
      const int64_t count = row[field].size();
      for (int64_t i = 0; i < count; ++i) texts.push_back(row[field].bytes_at(i));
    }
    out.append(Tensor::from(std::span<const std::string_view>(texts), shape));
    return;
  }
  std::byte* to = context.allocate_output(out, outputs, dtype, shape);
  for (const Element& row : rows) {
    const size_t size = row[field].byte_size();
    if (size > 0 && row[field].data() != to) std::memcpy(to, row[field].data(), size);
    to += size;
  }
}

void stack_field(std::span<const Element> rows, size_t field, Context& context, OutputSlots outputs, Element& out) {
  const Shape shape = rows[0][field].shape().stacked(static_cast<int64_t>(rows.size()));
  join_values(rows, field, shape, context, outputs, out);
}

Stack::Stack(const Spec& spec, int64_t count, Context& context, OutputSlots outputs, Element& out)
    : context_(context), outputs_(outputs), out_(out) {
  for (const FieldSpec& field : spec) {
    row_outputs_.push_back({nullptr, &field});
    if (field.dtype != DType::bytes && field.shape.is_full()) {
      row_outputs_.back().data = context.allocate_output(out, outputs, field.dtype, field.shape.stacked(count));
    } else {
      out.append(Tensor());
      has_loose_ = true;
    }
  }
  // Once more: a small tensor lives inside `out`, which moves it when it grows.
  for (size_t i = 0; i < row_outputs_.size(); ++i) {
    if (row_outputs_[i].data != nullptr) row_outputs_[i].data = out[i].mutable_data();
  }
}

void Stack::add(Element row) {
  for (size_t i = 0; i < row_outputs_.size(); ++i) {
    std::byte*& to = row_outputs_[i].data;
    if (to == nullptr) continue;
    const size_t size = row[i].byte_size();
    if (size != 0 && row[i].data() != to) std::memcpy(to, row[i].data(), size);
    to += size;
  }
  if (has_loose_ || rows_.empty()) rows_.push_back(std::move(row));
}

void Stack::finish() {
  for (size_t i = 0; i < row_outputs_.size(); ++i) {
    if (row_outputs_[i].data != nullptr) continue;
    Element field;
    stack_field(rows_, i, context_, outputs_.empty() ? outputs_ : outputs_.subspan(i, 1), field);
    out_[i] = std::move(field[size_t{0}]);
  }
}

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/padding.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace headpond {
namespace {

int64_t volume(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) product *= dim;
  return product;
}

// run(from, to, count) for each contiguous run of a tensor of `dims` within one of `outer`.
template <class Run>
void for_runs(std::span<const int64_t> dims, std::span<const int64_t> outer, int64_t from, int64_t to, const Run& run) {
  if (dims.size() <= 1) {
    run(from, to, dims.empty() ? 1 : dims[0]);
    return;
  }
  const auto inner = dims.subspan(1), outer_inner = outer.subspan(1);
  const int64_t step = volume(inner), outer_step = volume(outer_inner);
  for (int64_t i = 0; i < dims[0]; ++i) for_runs(inner, outer_inner, from + i * step, to + i * outer_step, run);
}

}  // namespace

Shape common_shape(const Shape& limit, std::span<const Element> rows, size_t field) {
  std::vector<int64_t> dims(limit.dims().begin(), limit.dims().end());
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] != kUnknown) continue;
    dims[axis] = 0;
    for (const Element& row : rows) dims[axis] = std::max(dims[axis], row[field].dim(static_cast<int>(axis)));
  }
  return Shape(std::span<const int64_t>(dims));
}

void write_padded(const Tensor& tensor, const Shape& shape, const PaddingValue& value, std::byte* target) {
  assert(tensor.rank() == shape.rank() && tensor.dtype() != DType::bytes);
  const size_t item = item_size(tensor.dtype());
  const auto count = static_cast<size_t>(shape.size().value_or(0));
  const bool is_whole = tensor.has_shape(shape);
  if (!is_whole && value == PaddingValue{}) {
    if (count != 0) std::memset(target, 0, count * item);
  } else if (!is_whole) {
    for (size_t i = 0; i < count; ++i) std::memcpy(target + i * item, value.data(), item);
  }
  if (tensor.size() == 0 || (is_whole && tensor.data() == target)) return;
  const Shape own = tensor.shape();
  for_runs(own.dims(), shape.dims(), 0, 0, [&](int64_t from, int64_t to, int64_t length) {
    std::memcpy(target + static_cast<size_t>(to) * item, tensor.data() + static_cast<size_t>(from) * item,
                static_cast<size_t>(length) * item);
  });
}

void append_padded(const Tensor& tensor, const Shape& shape, std::vector<std::string_view>& values,
                   std::string_view value) {
  assert(tensor.rank() == shape.rank() && tensor.dtype() == DType::bytes);
  const auto begin = static_cast<int64_t>(values.size());
  values.resize(values.size() + static_cast<size_t>(shape.size().value_or(0)), value);
  if (tensor.size() == 0) return;
  const Shape own = tensor.shape();
  for_runs(own.dims(), shape.dims(), 0, begin, [&](int64_t from, int64_t to, int64_t length) {
    for (int64_t i = 0; i < length; ++i) values[static_cast<size_t>(to + i)] = tensor.bytes_at(from + i);
  });
}

}  // namespace headpond

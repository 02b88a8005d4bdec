// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tf1/rows_internal.h"

namespace headpond::tf1::internal {
namespace {

Tensor gather_strings(const Tensor& tensor, std::span<const int64_t> numbers, const Shape& shape) {
  const int64_t a_row = tensor.dim(0) == 0 ? 0 : tensor.size() / tensor.dim(0);
  std::vector<std::string_view> strings;
  strings.reserve(numbers.size() * static_cast<size_t>(a_row));
  for (const int64_t number : numbers) {
    for (int64_t i = 0; i < a_row; ++i) strings.push_back(tensor.bytes_at(number * a_row + i));
  }
  return Tensor::from(std::span<const std::string_view>(strings), shape);
}

}  // namespace

void refuse(const std::string& function, const std::string& why) {
  throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}: {}", function, why)));
}

Tensor gather_rows(const Tensor& tensor, std::span<const int64_t> numbers) {
  const Shape all = tensor.shape();
  std::vector<int64_t> dims(all.dims().begin(), all.dims().end());
  dims[0] = static_cast<int64_t>(numbers.size());
  const Shape shape{std::span<const int64_t>(dims)};
  if (tensor.dtype() == DType::bytes) return gather_strings(tensor, numbers, shape);
  Tensor rows = Tensor::empty(tensor.dtype(), shape);
  const size_t row_bytes = numbers.empty() ? 0 : rows.byte_size() / numbers.size();
  std::byte* to = rows.mutable_data();
  for (const int64_t number : numbers) {
    if (row_bytes > 0) std::memcpy(to, tensor.data() + static_cast<size_t>(number) * row_bytes, row_bytes);
    to += row_bytes;
  }
  return rows;
}

}  // namespace headpond::tf1::internal

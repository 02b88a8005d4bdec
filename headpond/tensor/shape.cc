// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "headpond/base/status.h"

namespace headpond {

Shape::Shape(std::span<const int64_t> dims) : rank_(static_cast<int>(dims.size())) {
  if (std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < kUnknown; })) {
    throw Exception(Error(ErrorKind::InvalidArgument,
                          fmt::format("a shape of [{}]: a dimension is below zero", fmt::join(dims, ","))));
  }
  if (rank_ <= kInline) {
    std::copy(dims.begin(), dims.end(), few_.begin());
  } else {
    many_.assign(dims.begin(), dims.end());
  }
}

bool Shape::is_full() const {
  return std::none_of(dims().begin(), dims().end(), [](int64_t dim) { return dim == kUnknown; });
}

std::optional<int64_t> Shape::size() const {
  if (!is_full()) return std::nullopt;
  // A zero anywhere makes an empty tensor, whatever the other dimensions are.
  if (std::find(dims().begin(), dims().end(), 0) != dims().end()) return 0;
  int64_t product = 1;
  for (const int64_t dim : dims()) {
    if (__builtin_mul_overflow(product, dim, &product)) return std::nullopt;
  }
  return product;
}

bool Shape::admits(const Shape& full) const {
  return std::equal(dims().begin(), dims().end(), full.dims().begin(), full.dims().end(),
                    [](int64_t own, int64_t other) { return own == kUnknown || own == other; });
}

Shape Shape::stacked(int64_t count) const {
  std::vector<int64_t> all = {count};
  all.insert(all.end(), dims().begin(), dims().end());
  return Shape(std::span<const int64_t>(all));
}

std::string Shape::to_string() const {
  std::string text = "[";
  for (const int64_t dim : dims()) {
    if (text.size() > 1) text += ',';
    text += dim == kUnknown ? "?" : std::to_string(dim);
  }
  return text + "]";
}

bool operator==(const Shape& a, const Shape& b) {
  return std::equal(a.dims().begin(), a.dims().end(), b.dims().begin(), b.dims().end());
}

}  // namespace headpond

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
  int64_t product = 1;
  bool is_known = true, is_empty = false, fits = true;
  for (const int64_t dim : dims()) {
    is_known &= dim != kUnknown;
    is_empty |= dim == 0;
    fits &= !__builtin_mul_overflow(product, dim, &product);
  }
  // A zero anywhere makes an empty tensor, whatever the other dimensions are.
  if (is_known && is_empty) return 0;
  return is_known && fits ? std::optional(product) : std::nullopt;
}

bool Shape::admits(const Shape& full) const {
  return std::equal(dims().begin(), dims().end(), full.dims().begin(), full.dims().end(),
                    [](int64_t own, int64_t other) { return own == kUnknown || own == other; });
}

Shape Shape::stacked(int64_t count) const {
  if (rank_ < kInline && count >= kUnknown) {
    Shape shape;
    shape.rank_ = rank_ + 1;
    shape.few_[0] = count;
    std::copy_n(few_.begin(), kInline - 1, shape.few_.begin() + 1);
    return shape;
  }
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

// SPDX-License-Identifier: Apache-2.0
// Padding: a tensor written into a larger one, which starts with it. Not for users.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/tensor/element.h"

namespace headpond {

/// The bytes of one padding value; the first item_size(dtype) are used.
using PaddingValue = std::array<std::byte, 8>;

/// `limit`, with each unknown dimension replaced by the largest one of that field in `rows` (0 if there are no rows).
/// REQUIRES: the field has the rank of `limit` in each row.
Shape common_shape(const Shape& limit, std::span<const Element> rows, size_t field);

/// Writes a tensor of `shape` to `target`: `tensor` in the corner of the lowest indices, `value` elsewhere. A tensor
/// of that shape may lie there already. REQUIRES: equal ranks; no dimension of `tensor` exceeds that of `shape`; not
/// dtype bytes.
void write_padded(const Tensor& tensor, const Shape& shape, const PaddingValue& value, std::byte* target);
/// The same for dtype bytes: appends the values, `value` elsewhere. The views live as long as `tensor` and `value`.
void append_padded(const Tensor& tensor, const Shape& shape, std::vector<std::string_view>& values,
                   std::string_view value = "");

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// A tensor at the beginning of a larger one.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/tensor/element.h"

namespace headpond {

/// The bytes of one padding value; as many as the dtype has count.
using PaddingValue = std::array<std::byte, 8>;

/// `limit`, where an unknown dimension is as long as the longest of that field of `rows`; 0 if there are none.
/// REQUIRES: the field has the limit's rank in each.
Shape common_shape(const Shape& limit, std::span<const Element> rows, size_t field);

/// Writes a tensor of `shape` to `place`: `tensor` at the beginning, `value` elsewhere. REQUIRES: equal ranks, no
/// dimension of `tensor` larger; not dtype bytes.
void write_padded(const Tensor& tensor, const Shape& shape, const PaddingValue& value, std::byte* place);
/// The same for dtype bytes: appends the values, "" elsewhere. They live as long as `tensor`.
void append_padded(const Tensor& tensor, const Shape& shape, std::vector<std::string_view>& values);

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// A tensor at the beginning of a larger one, and what the rest is filled with.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "headpond/tensor/tensor.h"

namespace headpond::internal {

/// The bytes of one padding value; as many as the dtype has count.
using PaddingValue = std::array<std::byte, 8>;

/// `value` as `dtype`; floating point is rounded to nearest. nullopt iff the dtype has no such value: a fraction or a
/// number beyond the range (infinity and NaN are values of floating point), and anything for dtype bytes.
std::optional<PaddingValue> padding_value(DType dtype, double value);

/// Writes a tensor of `shape` to `place`: `tensor` at the beginning, `value` elsewhere. REQUIRES: equal ranks, no
/// dimension of `tensor` larger; not dtype bytes.
void write_padded(const Tensor& tensor, const Shape& shape, const PaddingValue& value, std::byte* place);
/// The same for dtype bytes: appends the values, "" elsewhere. They live as long as `tensor`.
void append_padded(const Tensor& tensor, const Shape& shape, std::vector<std::string_view>& values);

}  // namespace headpond::internal

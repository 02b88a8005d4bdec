// SPDX-License-Identifier: Apache-2.0
// What padding is filled with.
#pragma once

#include <optional>

#include "headpond/dataset/ops/batch.h"
#include "headpond/tensor/padding.h"

namespace headpond::internal {

/// `value` as `dtype`; floating point is rounded to nearest. nullopt iff the dtype has no such value: a fraction or a
/// number beyond the range (infinity and NaN are values of floating point), a text, and anything for dtype bytes.
std::optional<PaddingValue> padding_value(DType dtype, const PadWith& value);

}  // namespace headpond::internal

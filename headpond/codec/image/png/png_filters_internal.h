// SPDX-License-Identifier: Apache-2.0
// The filters of rows (ISO/IEC 15948, 9.2), undone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/base/vector/vector_targets.h"

namespace headpond::png_internal {

/// `row` of `size` bytes, whole pixels, from its filtered bytes `raw` and the row `before` it. They do not overlap.
using UndoFilter = void (*)(const uint8_t* raw, const uint8_t* before, uint8_t* row, size_t size);
/// By the type that a row begins with: none, left, up, average, Paeth.
using UndoFilters = std::array<UndoFilter, 5>;
/// Those for pixels of 1, 2, 3, 4, 6 or 8 bytes.
using FilterCode = UndoFilters (*)(size_t pixel_bytes);

/// That of the best target of this machine.
FilterCode filter_code();
/// Its twin without vectors.
UndoFilters scalar_filters(size_t pixel_bytes);
/// All that this machine can run, for tests.
const std::vector<VectorTarget<FilterCode>>& filter_code_targets();

}  // namespace headpond::png_internal

// SPDX-License-Identifier: Apache-2.0
// Helpers of operators that fill columns: see View::fill. For authors of operators.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/dataset/view.h"

namespace headpond {

namespace internal {

/// How many positions an operator looks at together: what it knows of them stays on the stack.
inline constexpr size_t kFillBlock = 256;

/// Bytes of a field in one element of a column: of dtype bytes a std::string_view. REQUIRES: a full shape.
size_t row_bytes(const FieldSpec& field);

/// Copies row `positions[r]` of `rows`, a contiguous array of rows, to row r of `to`; prefetches the next ones.
void gather_rows(const std::byte* rows, size_t row_size, std::span<const int64_t> positions, std::byte* to);

/// The same for a column of dtype bytes; the texts live as long as those of `rows`, which has rank 1.
void gather_texts(const Tensor& rows, std::span<const int64_t> positions, std::byte* to);

}  // namespace internal

/// Takes the first `count` slots from `outputs` and returns them; none if there are none.
inline OutputSlots take_first(OutputSlots& outputs, size_t count) {
  const OutputSlots first = outputs.first(outputs.empty() ? 0 : count);
  outputs = outputs.subspan(first.size());
  return first;
}

/// The rest of columns and keys after the elements that are written.
class ColumnsLeft {
 public:
  /// `keys` may be null.
  ColumnsLeft(OutputSlots columns, uint64_t* keys) : columns_(columns), keys_(keys) {}
  OutputSlots columns() const { return columns_; }
  uint64_t* keys() const { return keys_; }
  void pass(size_t count);

 private:
  OutputSlots columns_;
  uint64_t* keys_;
  std::vector<OutputSlot> moved_;
};

/// View::fill of an operator that gives its input's elements at other positions: `map(positions, to)` writes the
/// input's positions to `to`, below 0 where there is none.
template <class Map>
bool fill_from(const View& input, Map&& map, std::span<const int64_t> positions, Context& context, OutputSlots columns,
               uint64_t* keys) {
  if (positions.empty()) return input.fill({}, context, columns, keys);
  std::array<int64_t, internal::kFillBlock> mapped;
  ColumnsLeft left(columns, keys);
  while (true) {
    const size_t count = std::min(positions.size(), mapped.size());
    map(positions.first(count), mapped.data());
    int64_t any = 0;
    for (size_t r = 0; r < count; ++r) any |= mapped[r];
    if (any < 0) return false;
    if (!input.fill({mapped.data(), count}, context, left.columns(), left.keys())) return false;
    positions = positions.subspan(count);
    if (positions.empty()) return true;
    left.pass(count);
  }
}

/// Fills the columns of `input` a block at a time, with keys, also if `keys` is null; calls `then(first, keys)` after
/// each block, whose elements are `first`, `first` + 1, ...
template <class Then>
bool fill_with_keys(const View& input, std::span<const int64_t> positions, Context& context, OutputSlots columns,
                    uint64_t* keys, const Then& then) {
  if (positions.empty()) return input.fill({}, context, columns, keys);
  std::array<uint64_t, internal::kFillBlock> own;
  ColumnsLeft left(columns, keys);
  for (size_t first = 0; first < positions.size(); first += own.size()) {
    if (first > 0) left.pass(own.size());
    const size_t count = std::min(positions.size() - first, own.size());
    uint64_t* const to = keys != nullptr ? left.keys() : own.data();
    if (!input.fill(positions.subspan(first, count), context, left.columns(), to)) return false;
    then(first, std::span<const uint64_t>(to, count));
  }
  return true;
}

}  // namespace headpond

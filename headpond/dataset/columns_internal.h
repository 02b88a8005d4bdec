// SPDX-License-Identifier: Apache-2.0
// What operators fill columns with: see View::fill.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/dataset/view.h"

namespace headpond::internal {

/// So many positions are looked at together: what is known of them stays on the stack.
inline constexpr size_t kFillBlock = 256;

/// Bytes of a field in one element of a column: of dtype bytes a std::string_view. REQUIRES: a full shape.
size_t row_bytes(const FieldSpec& field);

/// Copies row `positions[r]` of `rows`, which lie one below the other, to row r of `to`; those that come are fetched
/// ahead.
void gather_rows(const std::byte* rows, size_t row_size, std::span<const int64_t> positions, std::byte* to);

/// The same of a column of dtype bytes; the texts live as long as those of `rows`, which has rank 1.
void gather_texts(const Tensor& rows, std::span<const int64_t> positions, std::byte* to);

/// The first `count` of `outputs`, which loses them; none of none.
inline OutputSlots take_first(OutputSlots& outputs, size_t count) {
  const OutputSlots first = outputs.first(outputs.empty() ? 0 : count);
  outputs = outputs.subspan(first.size());
  return first;
}

/// What is left of columns and keys behind the elements that are written.
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

/// View::fill of what gives its input's elements at other places: `places_of(positions, to)` writes them; below 0:
/// there is none.
template <class PlacesOf>
bool fill_from(const View& input, PlacesOf&& places_of, std::span<const int64_t> positions, Context& context,
               OutputSlots columns, uint64_t* keys) {
  if (positions.empty()) return input.fill({}, context, columns, keys);
  std::array<int64_t, kFillBlock> places;
  ColumnsLeft left(columns, keys);
  while (true) {
    const size_t count = std::min(positions.size(), places.size());
    places_of(positions.first(count), places.data());
    int64_t any = 0;
    for (size_t r = 0; r < count; ++r) any |= places[r];
    if (any < 0) return false;
    if (!input.fill({places.data(), count}, context, left.columns(), left.keys())) return false;
    positions = positions.subspan(count);
    if (positions.empty()) return true;
    left.pass(count);
  }
}

/// For fill_from: `place(i)` of each.
template <class Place>
auto each_place(Place place) {
  return [place](std::span<const int64_t> positions, int64_t* to) {
    for (const int64_t i : positions) *to++ = place(i);
  };
}

/// Positions begin .. begin + slots - 1: part `number` of what gives one part after the other.
struct PartRange {
  int64_t number, begin, slots;
};

/// View::fill of what gives one part after the other; `part_at(i)` is the PartRange of a position, `view(number)` the
/// part's view or a pointer to it. Keys are mixed as in_part does.
template <class PartAt, class PartView>
bool fill_parts(const PartAt& part_at, const PartView& view, std::span<const int64_t> positions, Context& context,
                OutputSlots columns, uint64_t* keys) {
  std::array<int64_t, kFillBlock> places;
  ColumnsLeft left(columns, keys);
  while (!positions.empty()) {
    const PartRange part = part_at(positions[0]);
    const size_t most = std::min(positions.size(), places.size());
    size_t count = 0;
    for (; count < most; ++count) {
      places[count] = positions[count] - part.begin;
      if (places[count] < 0 || places[count] >= part.slots) break;
    }
    if (!view(part.number)->fill({places.data(), count}, context, left.columns(), left.keys())) return false;
    for (size_t r = 0; left.keys() != nullptr && part.number > 0 && r < count; ++r) {
      left.keys()[r] = mix(left.keys()[r], static_cast<uint64_t>(part.number));
    }
    positions = positions.subspan(count);
    if (!positions.empty()) left.pass(count);
  }
  return true;
}

/// Fills the columns of `input` a block at a time, with keys, also if `keys` is null; calls `then(first, keys)` behind
/// each, whose elements are `first`, `first` + 1, ...
template <class Then>
bool fill_with_keys(const View& input, std::span<const int64_t> positions, Context& context, OutputSlots columns,
                    uint64_t* keys, const Then& then) {
  if (positions.empty()) return input.fill({}, context, columns, keys);
  std::array<uint64_t, kFillBlock> own;
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

}  // namespace headpond::internal

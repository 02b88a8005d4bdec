// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/columns.h"

#include <cstring>
#include <string_view>

#include "headpond/base/system/prefetch.h"

namespace headpond {
namespace {

// The compiler knows the size: a copy is a few instructions.
template <size_t kSize>
void gather_small(const std::byte* rows, std::span<const int64_t> positions, std::byte* to) {
  constexpr size_t kAhead = 16;
  const size_t count = positions.size();
  for (size_t r = 0; r < count; ++r) {
    if (r + kAhead < count) prefetch_to_read(rows + static_cast<size_t>(positions[r + kAhead]) * kSize);
    std::memcpy(to + r * kSize, rows + static_cast<size_t>(positions[r]) * kSize, kSize);
  }
}

void gather_large(const std::byte* rows, size_t row_size, std::span<const int64_t> positions, std::byte* to) {
  constexpr size_t kBytesAhead = 4096, kMostLines = 32;
  const size_t ahead = std::max<size_t>(kBytesAhead / row_size, 1);
  const size_t fetched = std::min(row_size, kMostLines * kCacheLine);
  const auto fetch = [&](int64_t position) {
    const std::byte* const row = rows + static_cast<size_t>(position) * row_size;
    prefetch_to_read(row, fetched);
  };
  const size_t count = positions.size();
  for (size_t r = 0; r < std::min(ahead, count); ++r) fetch(positions[r]);
  for (size_t r = 0; r < count; ++r) {
    if (r + ahead < count) fetch(positions[r + ahead]);
    std::memcpy(to + r * row_size, rows + static_cast<size_t>(positions[r]) * row_size, row_size);
  }
}

}  // namespace

size_t internal::row_bytes(const FieldSpec& field) {
  const size_t item = field.dtype == DType::bytes ? sizeof(std::string_view) : item_size(field.dtype);
  return item * static_cast<size_t>(field.shape.size().value_or(0));
}

void internal::gather_rows(const std::byte* rows, size_t row_size, std::span<const int64_t> positions, std::byte* to) {
  switch (row_size) {
    case 0:
      return;
    case 1:
      return gather_small<1>(rows, positions, to);
    case 2:
      return gather_small<2>(rows, positions, to);
    case 4:
      return gather_small<4>(rows, positions, to);
    case 8:
      return gather_small<8>(rows, positions, to);
    case 16:
      return gather_small<16>(rows, positions, to);
    default:
      return gather_large(rows, row_size, positions, to);
  }
}

void internal::gather_texts(const Tensor& rows, std::span<const int64_t> positions, std::byte* to) {
  for (const int64_t i : positions) {
    const std::string_view text = rows.bytes_at(i);
    std::memcpy(to, &text, sizeof(std::string_view));
    to += sizeof(std::string_view);
  }
}

void ColumnsLeft::pass(size_t count) {
  if (moved_.empty()) moved_.assign(columns_.begin(), columns_.end());
  for (OutputSlot& column : moved_) column.data += count * internal::row_bytes(*column.spec);
  columns_ = moved_;
  if (keys_ != nullptr) keys_ += count;
}

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// The steps of which the loops of the entropy decoder are made.
#pragma once

#include <array>
#include <cstdint>

#include "headpond/codec/image/baseline/entropy_internal.h"

namespace headpond::jpeg_internal {

inline constexpr uint32_t kNoSymbol = 256;

/// The entry, as one of HuffmanTable::look, of a code that is longer than the table looks. `next`: 16 bits.
uint32_t long_entry(const HuffmanTable& table, uint32_t next);

inline int32_t take_value(ScanBits& bits, int size) {
  const auto value = static_cast<int32_t>(bits.peek(size));
  bits.skip(size);
  return value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
}

/// Takes the symbol of an entry without a value.
inline uint32_t take_symbol(ScanBits& bits, const HuffmanTable& table, uint32_t entry) {
  if ((entry & 255) == 0) entry = long_entry(table, bits.peek(16));
  bits.skip(static_cast<int>(entry & 255));
  return entry >> 8;
}

/// Adds the difference to `dc`. REQUIRES: 32 bits are ready.
[[gnu::always_inline]] inline bool take_difference(ScanBits& bits, const HuffmanTable& table, int32_t& dc) {
  if (const int32_t whole = table.differences[bits.peek(HuffmanTable::kDifferenceBits)]; whole != 0) [[likely]] {
    bits.skip(whole & 15);
    dc += whole >> 4;
    return true;
  }
  const uint32_t entry = table.look[bits.peek(HuffmanTable::kLookBits)];
  if (entry >> 16 != 0) {
    bits.skip(static_cast<int>(entry & 255));
    dc += static_cast<int32_t>(entry) >> 16;
    return true;
  }
  const uint32_t symbol = take_symbol(bits, table, entry);
  if (symbol == kNoSymbol) return false;
  if (symbol != 0) dc += take_value(bits, static_cast<int>(symbol));
  return true;
}

/// So many pairs can be taken after fill_all().
inline constexpr int kSteps = 56 / HuffmanTable::kLookBits;
static_assert(kSteps * HuffmanTable::kMostSkipped <= 56);

// Of the places from `k` on the last is the second value's.
[[gnu::always_inline]] inline void put(const ValuePair& pair, size_t k, size_t places, int16_t* to) {
  const size_t first = pair.first;
  const int8_t first_value = pair.first_value, second_value = pair.second_value;
  to[kPlaces[k + places - 1]] = int16_t{second_value};
  to[kPlaces[k + first]] = int16_t{first_value};  // Which may be the only one.
}

/// What a look into the table of a block found.
struct Looked {
  uint32_t advance = 0;
  int bits = 0;
  const ValuePair* pair = nullptr;  ///< Null where values are not kept.
};

template <bool Keeps>
[[gnu::always_inline]] inline Looked look(const EntropyReader& reader) {
  if constexpr (Keeps) {
    const uint32_t at = reader.bits.peek(HuffmanTable::kLookBits);
    const ValuePair& pair = reader.pairs->values[at];
    return {pair.advance, reader.pairs->bits[at], &pair};
  } else {
    const SkippedSymbols& symbols = reader.pairs->skips[reader.bits.peek(HuffmanTable::kSkipBits)];
    return {symbols.advance, symbols.bits};
  }
}

/// Takes the values that the table has for the next bits, if the block goes on after them; else nothing: false, and
/// `looked` is what there is. `Keeps`: the reader has memory for them.
template <bool Keeps>
[[gnu::always_inline]] inline bool step(EntropyReader& reader, Looked& looked) {
  looked = look<Keeps>(reader);
  const uint32_t next = reader.k + looked.advance;
  if (next > 63) [[unlikely]] {
    return false;
  }
  if constexpr (Keeps) put(*looked.pair, reader.k, looked.advance, reader.to);
  reader.bits.skip(looked.bits);
  reader.k = next;
  return true;
}

}  // namespace headpond::jpeg_internal

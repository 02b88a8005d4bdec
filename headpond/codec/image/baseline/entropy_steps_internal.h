// SPDX-License-Identifier: Apache-2.0
// The steps of which the entropy decoders are made.
#pragma once

#include <array>
#include <cstdint>

#include "headpond/codec/image/baseline/entropy_internal.h"

namespace headpond::jpeg_internal {

/// Where the values of the zigzag order stand in a block.
inline constexpr std::array<uint8_t, 64> kPlaces = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                                    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                                    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                                    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

inline constexpr uint32_t kNoSymbol = 256;

/// No image has larger coefficients, of which libjpeg's transforms make samples in more than one way.
inline constexpr uint32_t kMostCoefficient = 8191;

/// The entry, as one of HuffmanTable::look, of a code that is longer than the table looks. `next`: 16 bits.
uint32_t long_entry(const HuffmanTable& table, uint32_t next);

inline int32_t take_value(ScanBits& bits, int size) {
  const auto value = static_cast<int32_t>(bits.peek(size));
  bits.skip(size);
  return value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
}

inline uint32_t next_entry(ScanBits& bits, const HuffmanTable& table) {
  bits.fill();
  return table.look[bits.peek(HuffmanTable::kLookBits)];
}

/// Takes the symbol of an entry without a value.
inline uint32_t take_symbol(ScanBits& bits, const HuffmanTable& table, uint32_t entry) {
  if ((entry & 255) == 0) entry = long_entry(table, bits.peek(16));
  bits.skip(static_cast<int>(entry & 255));
  return entry >> 8;
}

/// Adds the difference to `dc`.
inline bool take_difference(ScanBits& bits, const HuffmanTable& table, int32_t& dc) {
  const uint32_t entry = next_entry(bits, table);
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

enum class Went : uint8_t { on, to_end, wrong, elsewhere };

/// A block that is read: the next place of the zigzag order, and the bits of all magnitudes.
struct BlockState {
  int16_t* to = nullptr;
  uint32_t k = 1, seen = 0;
};

/// So many can be taken by take_short() after fill_all().
inline constexpr int kShortSymbols = 4;
static_assert(kShortSymbols * HuffmanTable::kLookBits <= 56);

[[gnu::always_inline]] inline Went put_value(int32_t value, const FrameComponent& component, BlockState& block) {
  if (block.k > 63) [[unlikely]]
    return Went::wrong;
  const int32_t coefficient = value * component.quantizer[block.k];
  block.seen |= static_cast<uint32_t>(coefficient ^ (coefficient >> 31));
  block.to[kPlaces[block.k]] = static_cast<int16_t>(coefficient);
  return ++block.k < 64 ? Went::on : Went::to_end;
}

/// The next symbol of a block with its value, if the table has both; else nothing: elsewhere.
[[gnu::always_inline]] inline Went take_short(ScanBits& bits, const FrameComponent& component, BlockState& block) {
  const uint32_t entry = component.ac->look[bits.peek(HuffmanTable::kLookBits)];
  const int32_t value = static_cast<int32_t>(entry) >> 16;
  if (value == 0) return Went::elsewhere;
  bits.skip(static_cast<int>(entry & 255));
  block.k += entry >> 8 & 255;
  return put_value(value, component, block);
}

/// Any symbol.
[[gnu::always_inline]] inline Went take_long(ScanBits& bits, const FrameComponent& component, BlockState& block) {
  const HuffmanTable& table = *component.ac;
  const uint32_t entry = next_entry(bits, table);
  if (entry >> 16 != 0) return take_short(bits, component, block);
  const uint32_t symbol = take_symbol(bits, table, entry);
  if (symbol == kNoSymbol) return Went::wrong;
  block.k += symbol >> 4;
  if ((symbol & 15) == 0) return symbol == 0xf0 && ++block.k < 64 ? Went::on : Went::to_end;
  return put_value(take_value(bits, static_cast<int>(symbol & 15)), component, block);
}

}  // namespace headpond::jpeg_internal

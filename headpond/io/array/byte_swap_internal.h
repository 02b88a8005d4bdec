// SPDX-License-Identifier: Apache-2.0
// Converts values of files to this machine's byte order, which is little-endian.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace headpond::internal {

static_assert(std::endian::native == std::endian::little);

template <class T, class Swap>
void swap_each(std::span<std::byte> values, Swap swap) {
  for (size_t at = 0; at < values.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, &values[at], sizeof value);
    value = swap(value);
    std::memcpy(&values[at], &value, sizeof value);
  }
}

/// Reverses the bytes of each value. REQUIRES: whole values of 1, 2, 4 or 8 bytes.
inline void swap_bytes(std::span<std::byte> values, size_t value_bytes) {
  if (value_bytes == 2) swap_each<uint16_t>(values, [](uint16_t x) { return __builtin_bswap16(x); });
  if (value_bytes == 4) swap_each<uint32_t>(values, [](uint32_t x) { return __builtin_bswap32(x); });
  if (value_bytes == 8) swap_each<uint64_t>(values, [](uint64_t x) { return __builtin_bswap64(x); });
}

}  // namespace headpond::internal

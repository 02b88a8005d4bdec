// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli polynomial 0x1edc6f41, reflected, inverted at both ends; RFC 3720 appendix B.4) and its masked
// form, which record files store. Values are the same on every machine. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace headpond {

/// The CRC of the bytes whose CRC is `crc`, followed by `data`. The CRC of no bytes is 0.
uint32_t crc32c_extend(uint32_t crc, std::span<const std::byte> data);

inline uint32_t crc32c(std::span<const std::byte> data) { return crc32c_extend(0, data); }
inline uint32_t crc32c(std::string_view data) { return crc32c_extend(0, std::as_bytes(std::span(data))); }

/// The form that record files store: the CRC rotated right by 15 bits, plus a constant, because the CRC of bytes that
/// contain CRCs would be weak.
constexpr uint32_t mask_crc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

/// unmask_crc32c(mask_crc32c(x)) == x for every x.
constexpr uint32_t unmask_crc32c(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8U;
  return (rotated << 15) | (rotated >> 17);
}

namespace crc32c_internal {
/// Input of at most this many bytes is computed with the CRC instruction; folding costs more to start.
inline constexpr size_t kShort = 192;
extern const bool instruction_is_there;  ///< False also before the variables of this library are initialised.
}  // namespace crc32c_internal

inline uint32_t masked_crc32c(std::span<const std::byte> data) { return mask_crc32c(crc32c(data)); }
inline uint32_t masked_crc32c(std::string_view data) { return mask_crc32c(crc32c(data)); }

/// masked_crc32c, inlined for short input: function calls would take a third of the time of a small record.
inline uint32_t masked_crc32c_in_line(std::span<const std::byte> data) {
#if defined(__x86_64__)
  if (data.size() <= crc32c_internal::kShort && crc32c_internal::instruction_is_there) {
    uint64_t state = UINT32_MAX;
    const std::byte* at = data.data();
    size_t left = data.size();
    const auto take_word = [&] {
      uint64_t word;
      std::memcpy(&word, at, sizeof(word));
      asm("crc32q %1, %0" : "+r"(state) : "r"(word));
      at += sizeof(word);
    };
    for (; left >= 32; left -= 32) {  // Four a turn: the time of a shorter loop depends on its alignment.
      take_word(), take_word(), take_word(), take_word();
    }
    for (; left >= 8; left -= 8) take_word();
    for (; left > 0; --left, ++at) {
      const auto byte = static_cast<uint8_t>(*at);
      asm("crc32b %1, %k0" : "+r"(state) : "r"(byte));
    }
    return mask_crc32c(~static_cast<uint32_t>(state));
  }
#endif
  return masked_crc32c(data);
}

/// masked_crc32c of the eight bytes of `value`, lowest first. Inlined: a record's length is verified before its payload
/// can be found.
inline uint32_t masked_crc32c_u64(uint64_t value) {
#if defined(__x86_64__)
  if (crc32c_internal::instruction_is_there) {
    uint64_t state = UINT32_MAX;
    asm("crc32q %1, %0" : "+r"(state) : "r"(value));
    return mask_crc32c(~static_cast<uint32_t>(state));
  }
#endif
  std::byte part[8];
  for (int i = 0; i < 8; ++i) part[i] = static_cast<std::byte>(value >> 8 * i & 0xff);
  return masked_crc32c(std::span<const std::byte>(part));
}

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli polynomial 0x1edc6f41, reflected, inverted at both ends; RFC 3720 appendix B.4) and the masked
// form that record files store. Every function gives the same value on every machine; only the speed differs.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace headpond {

/// The CRC of the bytes that `crc` stands for, followed by `data`. The CRC of no bytes is 0.
uint32_t crc32c_extend(uint32_t crc, std::span<const std::byte> data);

inline uint32_t crc32c(std::span<const std::byte> data) { return crc32c_extend(0, data); }
inline uint32_t crc32c(std::string_view data) { return crc32c_extend(0, std::as_bytes(std::span(data))); }

/// What a record file stores: a CRC of bytes that contain CRCs would be weak, so it is rotated right by 15 bits and a
/// constant is added.
constexpr uint32_t mask_crc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

/// unmask_crc32c(mask_crc32c(x)) == x for every x.
constexpr uint32_t unmask_crc32c(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8U;
  return (rotated << 15) | (rotated >> 17);
}

inline uint32_t masked_crc32c(std::span<const std::byte> data) { return mask_crc32c(crc32c(data)); }
inline uint32_t masked_crc32c(std::string_view data) { return mask_crc32c(crc32c(data)); }

}  // namespace headpond

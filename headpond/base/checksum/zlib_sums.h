// SPDX-License-Identifier: Apache-2.0
// The checksums of zlib, gzip and PNG, by ISA-L: the values of zlib's crc32() and adler32(). Thread-safe.
// Not for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headpond {

/// The CRC-32 (ISO 3309) of the bytes whose CRC is `crc`, followed by `data`. The CRC of no bytes is 0.
uint32_t crc32_extend(uint32_t crc, std::span<const std::byte> data);

/// The same for Adler-32 (RFC 1950). That of no bytes is 1.
uint32_t adler32_extend(uint32_t adler, std::span<const std::byte> data);

}  // namespace headpond

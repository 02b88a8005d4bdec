// SPDX-License-Identifier: Apache-2.0
// Makes the checksums of an input right, so that the content they protect is parsed too.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/base/crc32c.h"

namespace headpond::fuzz {

using Bytes = std::vector<std::byte>;

template <class T>
T number_at(const Bytes& bytes, size_t at) {
  T value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}
template <class T>
void put_at(Bytes& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

/// Both checksums of each frame, as far as the lengths stay in bounds.
inline Bytes mended_records(std::span<const std::byte> from) {
  Bytes bytes(from.begin(), from.end());
  for (size_t at = 0; bytes.size() - at >= 12;) {
    const auto length = number_at<uint64_t>(bytes, at);
    put_at(bytes, at + 8, masked_crc32c_u64(length));
    if (bytes.size() - at < 16 || length > bytes.size() - at - 16) break;
    put_at(bytes, at + 12 + length, masked_crc32c(std::span(bytes).subspan(at + 12, length)));
    at += 16 + length;
  }
  return bytes;
}

/// The checksum of each block that has the magic of a header.
inline Bytes mended_tar(std::span<const std::byte> from) {
  Bytes bytes(from.begin(), from.end());
  for (size_t at = 0; at + 512 <= bytes.size(); at += 512) {
    auto* const block = reinterpret_cast<unsigned char*>(bytes.data() + at);
    if (std::memcmp(block + 257, "ustar", 5) != 0) continue;
    std::memset(block + 148, ' ', 8);
    unsigned sum = 0;
    for (size_t i = 0; i < 512; ++i) sum += block[i];
    for (size_t digit = 0; digit < 6; ++digit)
      block[153 - digit] = static_cast<unsigned char>('0' + (sum >> 3 * digit & 7));
    block[154] = 0;
  }
  return bytes;
}

/// The CRC-32 of each stored member of the directory, there and before the member.
inline Bytes mended_zip(std::span<const std::byte> from) {
  Bytes bytes(from.begin(), from.end());
  for (size_t at = 0; at + 46 <= bytes.size(); ++at) {
    if (number_at<uint32_t>(bytes, at) != 0x02014b50 || number_at<uint16_t>(bytes, at + 10) != 0) continue;
    const size_t size = number_at<uint32_t>(bytes, at + 20), local = number_at<uint32_t>(bytes, at + 42);
    if (local > bytes.size() || bytes.size() - local < 30) continue;
    const size_t begin = local + 30 + number_at<uint16_t>(bytes, local + 26) + number_at<uint16_t>(bytes, local + 28);
    if (begin > bytes.size() || size > bytes.size() - begin) continue;
    const auto crc = static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data() + begin), size));
    put_at(bytes, at + 16, crc);
    put_at(bytes, local + 14, crc);
  }
  return bytes;
}

}  // namespace headpond::fuzz

// SPDX-License-Identifier: Apache-2.0
// Zip archives, as far as npz files need them: the members of the central directory, stored or deflated, with zip64.
// Source: PKWARE's APPNOTE.TXT, 4.3 and 4.5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"

namespace headpond::internal {

struct ZipMember {
  std::string name;  ///< Stored name; may be anything, also "../x".
  bool is_deflated;
  uint32_t crc;
  uint64_t packed_size;  ///< Compressed bytes, in the archive.
  uint64_t size;         ///< Inflated bytes; never more than deflate can make of packed_size.
  uint64_t offset;       ///< Where the compressed bytes begin.
};

/// The members in the order of the directory, without folders. Each lies in the archive, before the directory and after
/// the previous one, so that none overlap. DataLoss iff the directory is missing or truncated, or contradicts the
/// archive or the members' own headers; Unimplemented iff a member is encrypted or compressed in another way, or the
/// archive has several parts.
Result<std::vector<ZipMember>> index_zip(std::span<const std::byte> archive, std::string_view name);

/// Inflates a member of that index and verifies its size and CRC-32: DataLoss iff one is wrong.
Result<std::vector<std::byte>> unzip(std::span<const std::byte> archive, const ZipMember& member,
                                     std::string_view name);
/// The same for a stored member, in place.
Result<std::span<const std::byte>> stored_content(std::span<const std::byte> archive, const ZipMember& member,
                                                  std::string_view name);

}  // namespace headpond::internal

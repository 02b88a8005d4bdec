// SPDX-License-Identifier: Apache-2.0
// Zip archives, as far as npz files need them: the members that the central directory lists, stored or deflated, zip64
// too. Source: PKWARE's APPNOTE.TXT, 4.3 and 4.5.
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
  std::string name;  ///< As stored; may be anything, "../x" too.
  bool is_deflated;
  uint32_t crc;
  uint64_t packed_size;  ///< Bytes in the archive.
  uint64_t size;         ///< Of the content; never more than deflate can make of packed_size.
  uint64_t offset;       ///< Of the packed bytes.
};

/// The members in the order of the directory, without folders. Each lies inside the archive, before the directory, and
/// behind the one before it: none shares a byte with another. DataLoss iff the directory is missing or cut, or does not
/// fit the archive or the members' own headers; Unimplemented iff a member is encrypted or packed otherwise, or the
/// archive has several parts.
Result<std::vector<ZipMember>> index_zip(std::span<const std::byte> archive, std::string_view name);

/// The content of a member of that index, checked against size and CRC-32: DataLoss iff it is another one.
Result<std::vector<std::byte>> unzip(std::span<const std::byte> archive, const ZipMember& member,
                                     std::string_view name);
/// The same of one that is stored, in place.
Result<std::span<const std::byte>> stored_content(std::span<const std::byte> archive, const ZipMember& member,
                                                  std::string_view name);

}  // namespace headpond::internal

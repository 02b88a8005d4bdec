// SPDX-License-Identifier: Apache-2.0
// For tests: zip archives, also wrong ones.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/io/zlib_test_internal.h"

namespace headpond::test {

struct ZipFile {
  std::string name;
  Bytes content = {};
  bool deflate = false;
  bool zip64 = false;  ///< Sizes in the zip64 part only.
  /// Of the directory's entry, where it is to differ from the truth.
  int64_t more_crc = 0, more_size = 0, more_packed = 0, more_offset = 0;
  uint16_t flags = 0, method = UINT16_MAX;
  std::string local_name = {};

  Bytes packed() const { return deflate ? deflated(content, 6, -15) : content; }
  uint64_t crc() const { return crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()); }
};

inline void put(Bytes& to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i, value >>= 8) to.push_back(static_cast<std::byte>(value & 0xff));
}
inline void put(Bytes& to, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

struct ZipNumbers {
  uint64_t crc, packed_size, size;
};
// Version to the length of the extra part.
inline void put_header(Bytes& to, const ZipFile& file, const ZipNumbers& numbers, size_t name_bytes,
                       size_t extra_bytes) {
  put(to, 20, 2);
  put(to, file.flags, 2);
  put(to, file.method != UINT16_MAX ? file.method : file.deflate ? 8 : 0, 2);
  put(to, 0, 4);
  put(to, numbers.crc, 4);
  for (const uint64_t size : {numbers.packed_size, numbers.size}) put(to, file.zip64 ? UINT32_MAX : size, 4);
  put(to, name_bytes, 2);
  put(to, extra_bytes, 2);
}

inline void put_member(Bytes& to, const ZipFile& file) {
  const Bytes packed = file.packed();
  const std::string& name = file.local_name.empty() ? file.name : file.local_name;
  put(to, 0x04034b50, 4);
  put_header(to, file, {file.crc(), packed.size(), file.content.size()}, name.size(), file.zip64 ? 20 : 0);
  put(to, name);
  if (file.zip64) {
    put(to, 1 | 16 << 16, 4);
    put(to, file.content.size(), 8);
    put(to, packed.size(), 8);
  }
  to.insert(to.end(), packed.begin(), packed.end());
}

inline void put_entry(Bytes& to, const ZipFile& file, uint64_t offset) {
  const auto changed = [](uint64_t value, int64_t by) { return value + static_cast<uint64_t>(by); };
  const ZipNumbers numbers = {changed(file.crc(), file.more_crc), changed(file.packed().size(), file.more_packed),
                              changed(file.content.size(), file.more_size)};
  offset = changed(offset, file.more_offset);
  put(to, 0x02014b50, 4);
  put(to, 20, 2);
  put_header(to, file, numbers, file.name.size(), file.zip64 ? 32 : 0);
  put(to, 0, 10);
  put(to, file.zip64 ? UINT32_MAX : offset, 4);
  put(to, file.name);
  if (!file.zip64) return;
  put(to, 0xcafe, 4);  // Another part, of no bytes.
  put(to, 1 | 24 << 16, 4);
  for (const uint64_t number : {numbers.size, numbers.packed_size, offset}) put(to, number, 8);
}

inline void put_end64(Bytes& to, uint64_t members, uint64_t bytes, uint64_t begin) {
  put(to, 0x06064b50, 4);
  put(to, 44, 8);
  put(to, 0, 12);
  for (const uint64_t number : {members, members, bytes, begin}) put(to, number, 8);
  put(to, 0x07064b50, 4);
  put(to, 0, 4);
  put(to, begin + bytes, 8);
  put(to, 1, 4);
}

inline Bytes zip_of(const std::vector<ZipFile>& files, bool end64 = false, std::string_view comment = "") {
  Bytes archive, directory;
  for (const ZipFile& file : files) {
    put_entry(directory, file, archive.size());
    put_member(archive, file);
  }
  const uint64_t begin = archive.size(), bytes = directory.size();
  archive.insert(archive.end(), directory.begin(), directory.end());
  if (end64) put_end64(archive, files.size(), bytes, begin);
  put(archive, 0x06054b50, 4);
  put(archive, 0, 4);
  for (int i = 0; i < 2; ++i) put(archive, end64 ? UINT16_MAX : files.size(), 2);
  for (const uint64_t number : {bytes, begin}) put(archive, end64 ? UINT32_MAX : number, 4);
  put(archive, comment.size(), 2);
  put(archive, comment);
  return archive;
}

}  // namespace headpond::test

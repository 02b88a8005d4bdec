// SPDX-License-Identifier: Apache-2.0
// A small language for tests: tar archives written by hand, header by header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headpond/io/archive/tar.h"
#include "headpond/io/archive/tar_writer.h"

namespace headpond::test {

inline std::string with_checksum(std::string block) {
  block.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  for (size_t digit = 0; digit < 6; ++digit) block[153 - digit] = static_cast<char>('0' + (sum >> 3 * digit & 7));
  block[154] = '\0';
  return block;
}
/// A header of `size` bytes of content, in twelve bytes as they are to stand there.
inline std::string header(char type, std::string_view name, std::string_view size) {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  block.replace(124, size.size(), size);
  block[156] = type;
  block.replace(257, 8, std::string_view("ustar\00000", 8));
  return with_checksum(std::move(block));
}
inline std::string octal(uint64_t size) {
  std::string digits(11, '0');
  for (size_t digit = 0; digit < 11; ++digit) digits[10 - digit] = static_cast<char>('0' + (size >> 3 * digit & 7));
  return digits;
}
inline std::string member(char type, std::string_view name, std::string_view content) {
  return header(type, name, octal(content.size())) + std::string(content) + std::string(tar_padding(content.size()));
}
inline std::string file(std::string_view name, std::string_view content) { return member('0', name, content); }
/// A pax header; its records as they are to stand there.
inline std::string pax(std::string_view records, char type = 'x') { return member(type, "pax", records); }
inline std::string end() { return std::string(tar_end()); }

inline Result<TarIndex> index_of(std::string_view archive, const TarLimits& limits = {}) {
  return index_tar(std::as_bytes(std::span(archive)), "/data/x.tar", limits);
}
inline Error tar_error(std::string_view archive, const TarLimits& limits = {}) {
  const auto index = index_of(archive, limits);
  return index ? Error() : index.error();
}
inline std::vector<std::string> names_of(std::string_view archive) {
  std::vector<std::string> names;
  const auto index = index_of(archive);
  if (!index) return {index.error().to_string()};
  for (const TarMember& member : index->members) names.push_back(member.name);
  return names;
}
inline std::string content_of(std::string_view archive, const TarMember& member) {
  return std::string(archive.substr(member.offset, member.size));
}

}  // namespace headpond::test

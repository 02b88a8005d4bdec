// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/archive/tar_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "headpond/io/archive/tar.h"
#include "headpond/io/quoted_name_internal.h"
#include "headpond/io/text/utf8_internal.h"

namespace headpond {
namespace {

constexpr size_t kBlock = 512, kNameBytes = 100, kPrefixBytes = 155, kChecksum = 148;
constexpr uint64_t kLargestOctal = (uint64_t{1} << 33) - 1;  // 11 digits.
constexpr uint64_t kLargestName = TarLimits().max_name_bytes, kLargestSize = INT64_MAX;
constexpr std::array<char, 2 * kBlock> kZeros = {};

struct UstarName {
  std::string_view prefix, name;
  bool fits;
};

// Split at the last slash that leaves both parts short enough.
UstarName split(std::string_view name) {
  const bool is_ascii = std::all_of(name.begin(), name.end(), [](char c) { return static_cast<signed char>(c) > 0; });
  if (name.size() <= kNameBytes) return {"", name, is_ascii};
  const size_t slash = name.rfind('/', kPrefixBytes);
  const bool fits = slash != std::string_view::npos && slash != 0 && name.size() - slash - 1 <= kNameBytes;
  if (!is_ascii || !fits) return {"", name.substr(0, kNameBytes), false};
  return {name.substr(0, slash), name.substr(slash + 1), true};
}

void put(std::string& block, size_t offset, std::string_view value) { block.replace(offset, value.size(), value); }

std::string header_block(const UstarName& name, uint64_t size, char type) {
  std::string block(kBlock, '\0');
  put(block, 0, name.name);
  put(block, 100, "0000644");
  put(block, 108, "0000000");
  put(block, 116, "0000000");
  put(block, 124, fmt::format("{:011o}", size));
  put(block, 136, "00000000000");
  put(block, kChecksum, "        ");
  block[156] = type;
  put(block, 257, std::string_view("ustar\00000", 8));
  put(block, 329, "0000000");
  put(block, 337, "0000000");
  put(block, 345, name.prefix);
  uint64_t sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(block, kChecksum, fmt::format("{:06o}", sum));
  block[kChecksum + 6] = '\0';
  return block;
}

// The length of a record includes the digits of the length itself.
std::string pax_record(std::string_view key, std::string_view value) {
  const size_t rest = key.size() + value.size() + 3;
  size_t length = rest + 1;
  while (fmt::formatted_size("{}", length) + rest != length) length = fmt::formatted_size("{}", length) + rest;
  return fmt::format("{} {}={}\n", length, key, value);
}

}  // namespace

Result<std::string> tar_header(std::string_view name, uint64_t size) {
  if (name.empty() || name.ends_with('/') || name.find('\0') != std::string_view::npos) {
    return fail(ErrorKind::InvalidArgument, fmt::format("no name of a tar member: {}", internal::quoted_name(name)));
  }
  if (name.size() > kLargestName || size > kLargestSize) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("tar member {}: a name of {} bytes and {} bytes of content; at most {} and {}",
                            internal::quoted_name(name), name.size(), size, kLargestName, kLargestSize));
  }
  const UstarName fitted = split(name);
  std::string records;
  if (!internal::is_utf8(name)) records += pax_record("hdrcharset", "BINARY");
  if (!fitted.fits) records += pax_record("path", name);
  if (size > kLargestOctal) records += pax_record("size", fmt::format("{}", size));
  const std::string own = header_block(fitted, size > kLargestOctal ? 0 : size, '0');
  if (records.empty()) return own;
  const std::string pax = header_block({"", "././@PaxHeader", true}, records.size(), 'x');
  return pax + records + std::string(tar_padding(records.size())) + own;
}

std::string_view tar_padding(uint64_t size) { return {kZeros.data(), (kBlock - size % kBlock) % kBlock}; }

std::string_view tar_end() { return {kZeros.data(), kZeros.size()}; }

Result<void> append_tar_member(std::string& archive, std::string_view name, std::string_view content) {
  const auto header = tar_header(name, content.size());
  if (!header) return fail(header.error());
  archive.append(*header).append(content).append(tar_padding(content.size()));
  return {};
}

}  // namespace headpond

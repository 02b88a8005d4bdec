// SPDX-License-Identifier: Apache-2.0
// Tar archives from any bytes, unchanged and with right checksums: every member lies in the archive and after the
// previous one; reading in order finds the same members; samples or an error.
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fuzz/mended.h"
#include "headpond/io/archive/tar.h"

namespace {

void read(std::span<const std::byte> bytes) {
  const size_t size = bytes.size();
  const auto index = headpond::index_tar(bytes, "fuzz");
  headpond::TarReader reader(headpond::make_memory_reader("fuzz", bytes));
  uint64_t before = 0;
  size_t members = 0;
  std::vector<std::byte> content;
  while (true) {
    const auto member = reader.next();
    if (!member && index) __builtin_trap();
    if (!member || !*member) break;
    const auto& [name, offset, length] = **member;
    if (offset < before + 512 || length > size || offset > size - length) __builtin_trap();
    if (index && (index->members[members].offset != offset || index->members[members].name != name)) __builtin_trap();
    content.resize(length);
    const auto got = reader.read(content);
    if (!got || *got != length) __builtin_trap();
    before = offset + length;
    ++members;
  }
  if (!index) return;
  if (members != index->members.size()) __builtin_trap();
  const auto groups = headpond::group_tar(*index, "fuzz");
  if (!groups) return;
  size_t grouped = groups->ungrouped;
  for (const auto& sample : groups->samples) grouped += sample.parts.size();
  if (grouped != members) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span<const uint8_t>(data, size));
  read(bytes);
  read(headpond::fuzz::mended_tar(bytes));
  return 0;
}

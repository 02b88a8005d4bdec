// SPDX-License-Identifier: Apache-2.0
// A record index from any bytes, unchanged and with a right checksum: refused, or offsets within the file.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/io/record/index/record_index.h"

namespace {

// `least`: the bytes of a record at least.
void read(std::span<const std::byte> bytes, std::string_view reader, uint64_t least) {
  const auto index = headpond::RecordIndex::parse(bytes, "fuzz", "/a", reader);
  if (!index) return;
  for (uint64_t i = 0; i < index->size(); ++i) {
    if (index->offset(i + 1) < index->offset(i) + least) __builtin_trap();
  }
  if (index->offset(index->size()) > index->mark().size) __builtin_trap();
  if (least == 16 && index->offset(0) != 0) __builtin_trap();
  const auto again = headpond::RecordIndex::parse(index->to_bytes("/a", reader), "fuzz", "/a", reader);
  if (!again || again->size() != index->size() || again->extra().size() != index->extra().size()) __builtin_trap();
}

void read(std::span<const std::byte> bytes) {
  read(bytes, headpond::kTFRecordReader, 16);
  read(bytes, "lines", 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span<const uint8_t>(data, size));
  read(bytes);
  if (size < 4) return 0;
  std::vector<std::byte> fitting(bytes.begin(), bytes.end());
  const uint32_t crc = headpond::masked_crc32c(std::span<const std::byte>(fitting).first(size - 4));
  std::memcpy(&fitting[size - 4], &crc, 4);
  read(fitting);
  return 0;
}

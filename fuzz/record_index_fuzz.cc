// SPDX-License-Identifier: Apache-2.0
// A record index from any bytes, unchanged and with a right checksum: refused, or offsets within the file.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/io/record/record_index.h"

namespace {

void read(std::span<const std::byte> bytes) {
  const auto index = headpond::RecordIndex::parse(bytes, "fuzz", "/a");
  if (!index) return;
  for (uint64_t i = 0; i < index->size(); ++i) {
    if (index->offset(i + 1) < index->offset(i) + 16) __builtin_trap();
  }
  if (index->offset(0) != 0 || index->offset(index->size()) > index->mark().size) __builtin_trap();
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

// SPDX-License-Identifier: Apache-2.0
// IDX, plain and gzip, from any bytes: a tensor or an error, and never more memory than the limit.
#include <cstddef>
#include <cstdint>
#include <span>

#include "headpond/io/array/idx.h"
#include "headpond/io/compression/inflate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kLimit = 1 << 20;
  const std::span<const std::byte> bytes = std::as_bytes(std::span<const uint8_t>(data, size));
  auto inflated = headpond::inflate_if_gzip(headpond::make_memory_reader("fuzz", bytes), kLimit);
  if (!inflated) return 0;
  const auto tensor = headpond::read_idx(std::move(*inflated), kLimit);
  if (tensor && static_cast<uint64_t>(tensor->size()) * headpond::item_size(tensor->dtype()) > kLimit) {
    __builtin_trap();
  }
  return 0;
}

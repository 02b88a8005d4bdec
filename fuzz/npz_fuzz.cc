// SPDX-License-Identifier: Apache-2.0
// npz files from any bytes, unchanged and with right checksums of stored members: arrays no larger in total than
// deflate can make them, or an error; twice with the same result.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "fuzz/mended.h"
#include "headpond/io/array/npz.h"

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

void read(std::span<const std::byte> bytes) {
  const auto arrays = headpond::read_npz(bytes, "fuzz", uint64_t{64} << 20);
  if (!arrays) return;
  size_t total = 0;
  for (const auto& [name, array] : *arrays) total += array.byte_size() + name.size();
  require(total <= 1032 * bytes.size());
  const auto again = headpond::read_npz(bytes, "fuzz");
  require(again && again->size() == arrays->size());
  for (size_t i = 0; i < arrays->size(); ++i) {
    const auto &one = (*arrays)[i].second, &other = (*again)[i].second;
    require(one.shape() == other.shape() && one.dtype() == other.dtype());
    require(one.byte_size() == 0 || std::memcmp(one.data(), other.data(), one.byte_size()) == 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  read(bytes);
  read(headpond::fuzz::mended_zip(bytes));
  return 0;
}

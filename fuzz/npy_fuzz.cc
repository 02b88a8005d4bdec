// SPDX-License-Identifier: Apache-2.0
// npy files from any bytes: an array no larger than the input, whose rows are those that are read by number.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "headpond/io/array/npy.h"

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const auto array = headpond::read_npy(bytes, "fuzz");
  const auto rows = headpond::NpyFile::over("fuzz", bytes);
  if (array) require(array->byte_size() <= size);
  if (!rows) return 0;
  const int64_t seen = std::min<int64_t>((*rows)->size(), 100);
  for (int64_t i = 0; i < seen; ++i) {
    const auto row = (*rows)->at(i);
    require(row.has_value() || !array);  // Of an array of booleans only invalid rows cannot be read.
    if (!row || !array) continue;
    const size_t bytes_of_row = row->byte_size();
    require(row->shape() == array->shape().row());
    require(bytes_of_row == 0 ||
            std::memcmp(row->data(), array->data() + static_cast<size_t>(i) * bytes_of_row, bytes_of_row) == 0);
  }
  return 0;
}

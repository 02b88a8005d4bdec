// SPDX-License-Identifier: Apache-2.0
// The state of a TensorFlow 1 reader from any bytes, unchanged and with a right checksum: refused, or serialized to the
// same bytes again.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "headpond/base/crc32c.h"
#include "headpond/tf1/readers.h"

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

void read(std::string_view state) {
  const headpond::tf1::TextLineReader reader;
  const auto restored = reader.restore_state(state);
  if (restored) return require(reader.serialize_state() == state);
  const auto kind = restored.error().kind();
  require(kind == headpond::ErrorKind::DataLoss || kind == headpond::ErrorKind::FailedPrecondition);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string state(reinterpret_cast<const char*>(data), size);
  read(state);
  if (size < 4) return 0;
  const uint32_t crc = headpond::masked_crc32c(std::string_view(state).substr(0, size - 4));
  std::memcpy(&state[size - 4], &crc, 4);
  read(state);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Record frames from any bytes, unchanged and with right checksums: each frame lies in the bytes and after the previous
// one, then comes the end or an error.
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/mended.h"
#include "headpond/io/record/record_frame.h"

namespace {

void read(std::span<const std::byte> bytes) {
  uint64_t offset = 0;
  while (true) {
    const auto frame = headpond::read_frame(bytes, offset, "fuzz");
    if (!frame) {
      const auto kind = frame.error().kind();
      if (kind != headpond::ErrorKind::OutOfRange && kind != headpond::ErrorKind::DataLoss) __builtin_trap();
      return;
    }
    const uint64_t end = frame->next_offset;
    if (end > bytes.size() || end < offset + 16 || frame->payload.size() != end - offset - 16) __builtin_trap();
    if (frame->payload.data() != bytes.data() + offset + 12) __builtin_trap();
    offset = end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span<const uint8_t>(data, size));
  read(bytes);
  read(headpond::fuzz::mended_records(bytes));
  return 0;
}

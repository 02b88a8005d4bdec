// SPDX-License-Identifier: Apache-2.0
// One frame of a TFRecord file (docs/formats/tfrecord.md): a record of any bytes with its length and two checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "headpond/base/status.h"

namespace headpond {

struct RecordFrame {
  std::span<const std::byte> payload;  ///< Inside the bytes that were given.
  uint64_t next_offset;                ///< Where the next frame begins.
};

/// The frame at `offset` of `bytes`, its checksums verified. OutOfRange iff `offset` is the end; DataLoss, naming
/// `name` and the offset, iff it is beyond the end, the frame is cut, or a checksum does not fit. Thread-safe.
Result<RecordFrame> read_frame(std::span<const std::byte> bytes, uint64_t offset, std::string_view name);

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// A frame of a TFRecord file (docs/formats/tfrecord.md): a record with its length and two checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "headpond/base/status.h"

namespace headpond {

struct RecordFrame {
  std::span<const std::byte> payload;  ///< A part of the given bytes.
  uint64_t next_offset;                ///< The offset of the next frame.
};

/// The frame at `offset` of `bytes`, with verified checksums. OutOfRange iff `offset` is the end; DataLoss, with `name`
/// and the offset, iff it is after the end, the frame is truncated, or a checksum is wrong. Thread-safe.
Result<RecordFrame> read_frame(std::span<const std::byte> bytes, uint64_t offset, std::string_view name);

}  // namespace headpond

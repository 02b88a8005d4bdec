// SPDX-License-Identifier: Apache-2.0
// Two rows of MCUs of one scan, decoded in one loop: while one waits for its table, the other goes on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "headpond/codec/image/baseline/entropy_internal.h"

namespace headpond::jpeg_internal {

/// A block of a row of MCUs, in the order of the scan.
struct RowBlock {
  uint32_t to = 0;  ///< Where its coefficients go, counted from the row's memory on.
  uint32_t component = 0;
  bool meets_point = false;  ///< It begins an MCU at which the index has a point.
};

/// Where one of the rows begins, and where its coefficients go.
struct RowStart {
  const ScanPoint* point;  ///< The first block's point, followed by those of the others that meet one.
  int16_t* memory;         ///< Zeros.
};

/// False as EntropyDecoder::take_block() and is_whole(), or iff a point isn't the state before its MCU. REQUIRES: there
/// are blocks, the first meets a point, and the scan has no restarts.
bool take_row_pair(const Frame& frame, std::span<const std::byte> data, std::span<const RowBlock> blocks,
                   const std::array<RowStart, 2>& rows);

}  // namespace headpond::jpeg_internal

// SPDX-License-Identifier: Apache-2.0
// Points of a baseline scan at which decoding can begin, and their form in bytes (docs/formats/jpeg_index.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"

namespace headpond::jpeg_internal {

/// The state of the entropy decoder before an MCU.
struct ScanPoint {
  uint64_t bit = 0;                ///< Counted in the scan's data as the file has them.
  std::array<int32_t, 3> dc = {};  ///< The last value of each component.

  friend bool operator==(const ScanPoint&, const ScanPoint&) = default;
};

struct ScanIndex {
  uint64_t file_bytes = 0, file_digest = 0;  ///< XXH3 (64 bits) of the JPEG file.
  int components = 0;                        ///< 1 or 3.
  int64_t interval = 1;                      ///< MCUs from one point of a row to the next.
  int64_t rows = 0, points_a_row = 0;
  std::vector<ScanPoint> points = {};  ///< Row by row; the first of a row is before its first MCU.

  /// The last point that isn't after MCU `mcu` of row `row`. REQUIRES: they are in the image.
  const ScanPoint& at(int64_t row, int64_t mcu) const {
    return points[static_cast<size_t>(row * points_a_row + mcu / interval)];
  }
};

/// Sets the marks of the file that `index` belongs to.
void mark_file(std::span<const std::byte> file, ScanIndex& index);
bool is_of_file(const ScanIndex& index, std::span<const std::byte> file);

std::vector<std::byte> to_bytes(const ScanIndex& index);
/// Makes `index` anew. DataLoss iff the bytes are no index, or a damaged one; Unimplemented iff it is of another
/// version. Errors begin with `name`.
Result<void> read_index(std::span<const std::byte> bytes, std::string_view name, ScanIndex& index);

}  // namespace headpond::jpeg_internal

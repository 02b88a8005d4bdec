// SPDX-License-Identifier: Apache-2.0
// Points inside a gzip file from which it can be inflated without what precedes them. Source of the method: zlib's
// examples/zran.c.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/io/file/file.h"

namespace headpond::internal {

inline constexpr size_t kWindowBytes = size_t{32} << 10;  ///< A match reaches back no further.

/// The start of a deflate block, or of the file.
struct InflatePoint {
  uint64_t in = 0;                     ///< Compressed bytes before it, those that it begins in included.
  uint64_t out = 0;                    ///< Inflated bytes before it.
  uint32_t bits = 0;                   ///< Bits of byte `in` - 1 that belong to it: 0 to 7.
  uint32_t member_out = 0;             ///< Inflated bytes of its gzip member before it, modulo 2^32.
  uint32_t crc = 0;                    ///< Their CRC-32.
  std::vector<std::byte> window = {};  ///< Their last 32 KiB, or all if there are fewer.

  /// Where in the file a reader for make_gzip_reader_at() begins.
  uint64_t start() const { return in - (bits > 0 ? 1 : 0); }
};

/// A make_gzip_reader() from `point` on; `compressed` begins at point.start(). `limit` counts all bytes of the file.
/// A point of another file gives DataLoss or wrong bytes, never more: callers verify them.
Result<std::unique_ptr<ByteReader>> make_gzip_reader_at(const InflatePoint& point,
                                                        std::unique_ptr<ByteReader> compressed,
                                                        uint64_t limit = UINT64_MAX);

/// Inflates a gzip file and stops at the starts of its blocks. Slower than make_gzip_reader(). One thread at a time.
class PointReader {
 public:
  explicit PointReader(std::unique_ptr<ByteReader> compressed);
  ~PointReader();
  PointReader(const PointReader&) = delete;
  PointReader& operator=(const PointReader&) = delete;

  /// Reads into the front of `to`, at most up to the next start of a block. Returns the number of bytes, perhaps 0;
  /// is_end() tells the end. DataLoss and ResourceExhausted as for make_gzip_reader().
  Result<size_t> read(std::span<std::byte> to);
  bool is_end() const;
  /// True iff the next byte is the first of a block that is not its member's last.
  bool is_at_point() const;
  /// REQUIRES: is_at_point().
  InflatePoint point() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// The lines of a large gzip file by number, a chunk of them in memory at a time. Not for users.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/io/text/line_file.h"

namespace headpond::internal {

class GzipChunks;

/// Thread-safe.
class GzipLines {
 public:
  struct Line {
    std::string_view text;               ///< What LineFile::at() gives.
    std::shared_ptr<const void> memory;  ///< Keeps it alive.
  };

  /// Null: the file is not gzip, is small, is damaged or exceeds a limit: LineFile reads it, or tells why not.
  static Result<std::unique_ptr<GzipLines>> open(const std::string& path, const LineFileOptions& options);

  ~GzipLines();
  GzipLines(const GzipLines&) = delete;
  GzipLines& operator=(const GzipLines&) = delete;

  int64_t size() const;
  /// Like LineFile::at(). `may_keep`: as for CsvFile::read(). REQUIRES: 0 <= i < size().
  Result<Line> at(int64_t i, bool may_keep) const;
  /// Where line i begins in the inflated file. REQUIRES and errors as at().
  Result<uint64_t> offset_of(int64_t i) const;
  /// The compressed file as it was indexed.
  const FileMark& mark() const;

 private:
  GzipLines(std::shared_ptr<GzipChunks> chunks, const LineFileOptions& options);

  const std::shared_ptr<const GzipChunks> chunks_;
  const uint64_t max_line_bytes_;
  const int64_t skipped_;  // Header lines.
};

}  // namespace headpond::internal

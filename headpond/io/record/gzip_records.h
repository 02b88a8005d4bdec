// SPDX-License-Identifier: Apache-2.0
// The records of a TFRecord file that is compressed by gzip, by number, a chunk of them in memory at a time
// (docs/formats/record_index.md). Not for users.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/io/record/index/record_index.h"

namespace headpond::internal {

class GzipChunks;

/// Thread-safe.
class GzipRecords {
 public:
  struct Options {
    bool keep_index = true;
    /// Reads the records before a cut or a damage that hides the next record; else that is DataLoss when opened.
    bool allow_damaged_end = false;
  };
  struct Record {
    std::string_view payload;
    std::shared_ptr<const void> memory;  ///< Keeps it alive.
    Error damage;                        ///< DataLoss: its checksum is wrong, and `payload` is not to be used.
  };

  /// Makes one pass, which verifies the whole file, unless what an earlier one found was kept. Errors of the system;
  /// DataLoss, with offset and record, as RecordReader has it.
  /// REQUIRES: the file is gzip.
  static Result<std::unique_ptr<GzipRecords>> open(const std::string& path, const Options& options);

  ~GzipRecords();
  GzipRecords(const GzipRecords&) = delete;
  GzipRecords& operator=(const GzipRecords&) = delete;

  int64_t size() const;
  bool is_whole() const;  ///< False iff these are only the records before a damage.
  /// `may_keep`: false: what was inflated earlier, of any file, makes room. DataLoss iff the file is not the one that
  /// was indexed; errors of the system. REQUIRES: 0 <= i < size().
  Result<Record> at(int64_t i, bool may_keep) const;
  /// Where record i begins in the inflated file. REQUIRES and errors as at().
  Result<uint64_t> offset_of(int64_t i) const;
  /// The compressed file as it was indexed.
  const FileMark& mark() const;

 private:
  explicit GzipRecords(std::shared_ptr<GzipChunks> chunks);

  const std::shared_ptr<const GzipChunks> chunks_;
};

}  // namespace headpond::internal

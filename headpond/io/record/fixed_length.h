// SPDX-License-Identifier: Apache-2.0
// Files of records of one length, such as CIFAR-10, raw images and samples (TensorFlow's FixedLengthRecordReader).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/io/compression/compression.h"
#include "headpond/io/file/file.h"

namespace headpond {

/// Record i begins at header_bytes + i * hop_bytes and ends before the footer. With a hop shorter than a record,
/// records overlap; a longer one leaves gaps, of which the last may be truncated.
struct FixedLengthOptions {
  uint64_t record_bytes;      ///< At least 1.
  uint64_t header_bytes = 0;  ///< Before the first record.
  uint64_t footer_bytes = 0;  ///< At the end of the file.
  uint64_t hop_bytes = 0;     ///< From the start of a record to that of the next; 0: record_bytes.
  /// none, gzip or zlib; sizes are of the inflated bytes. Never guessed: any bytes may begin a record.
  Compression compression = Compression::none;
};

/// Reads the records in order. One thread at a time.
class FixedLengthReader {
 public:
  /// Throws Exception(InvalidArgument) for records of 0 bytes, for sizes whose sum exceeds 2^63, and for another
  /// compression than none, gzip and zlib. `reader` reads the bytes as they are stored.
  FixedLengthReader(std::unique_ptr<ByteReader> reader, const FixedLengthOptions& options);
  /// Opens a regular file and starts at record `first`, which may be the one after the last. DataLoss iff the file has
  /// fewer records before it, for instance because it was cut; InvalidArgument iff no file can have it. A compressed
  /// file is inflated up to there. Errors of gzip and zlib as in io/compression/inflate.h.
  static Result<FixedLengthReader> open(const std::string& path, const FixedLengthOptions& options, int64_t first = 0);
  static void open(internal::ListOfNames, const FixedLengthOptions&, int64_t = 0) = delete;
  FixedLengthReader(FixedLengthReader&& other) noexcept;
  FixedLengthReader& operator=(FixedLengthReader&& other) noexcept;
  ~FixedLengthReader();

  /// The next record, valid until the next call; nullopt at the end. DataLoss, with file, record and offset, iff the
  /// file ends within a record, its header or its footer; the whole records come first. After an error of the reader,
  /// the next call tries again.
  Result<std::optional<std::span<const std::byte>>> next();
  /// The number of the record that next() returns next.
  int64_t position() const;
  const std::string& name() const;

 private:
  class State;
  explicit FixedLengthReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The records of a regular file by number. The file is mapped, or inflated into memory: no descriptor stays open.
/// Thread-safe.
class FixedLengthFile {
 public:
  /// Throws as the reader. DataLoss iff the file is shorter than header and footer, or a compressed one is damaged;
  /// ResourceExhausted iff it inflates to more than 4 GiB.
  static Result<FixedLengthFile> open(const std::string& path, const FixedLengthOptions& options);
  static void open(internal::ListOfNames, const FixedLengthOptions&) = delete;
  FixedLengthFile(FixedLengthFile&& other) noexcept;
  FixedLengthFile& operator=(FixedLengthFile&& other) noexcept;
  ~FixedLengthFile();

  int64_t size() const;        ///< Whole records.
  Result<void> whole() const;  ///< DataLoss iff the file, as it was when opened, ends within a record.
  /// Copies record `i`. OutOfRange iff there is none; InvalidArgument unless `to` has record_bytes; DataLoss if its
  /// bytes were cut off since, or cannot be read (MappedFile::check_read()).
  Result<void> read(int64_t i, std::span<std::byte> to) const;
  const std::string& name() const;

 private:
  class State;
  explicit FixedLengthFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond

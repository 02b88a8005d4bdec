// SPDX-License-Identifier: Apache-2.0
// Reads a TFRecord file (docs/formats/tfrecord.md) in order and verifies both checksums of every record: plain files in
// place; gzip and zlib, recognised by the first bytes and never by the name, through a buffer.
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
/// How a reader treats damaged bytes. `skip` concerns damaged data only: a file that shrinks while it is read
/// (compressed ones too) and errors of the system are always errors.
enum class OnDamage : uint8_t {
  fail,  ///< The call returns the error.
  skip,  ///< Skips the record, or the rest of the file if the next record cannot be found, and counts it.
};

struct RecordReaderOptions {
  OnDamage on_damage = OnDamage::fail;
  /// If given, another compression is DataLoss when opened; InvalidArgument iff there is no such compression.
  std::optional<Compression> compression = std::nullopt;
  uint64_t max_record_bytes = uint64_t{1} << 30;  ///< A longer record counts as damaged.
  /// ResourceExhausted if a compressed file inflates to more.
  uint64_t max_inflated_bytes = UINT64_MAX;
  /// If given, another number of records at the end is DataLoss.
  std::optional<uint64_t> expected_records = std::nullopt;
};

/// A position between two records. A record's number counts those before it in the file, damaged ones included.
struct RecordPosition {
  uint64_t offset = 0;  ///< In the inflated bytes.
  uint64_t record = 0;
  bool operator==(const RecordPosition&) const = default;
};

struct RecordCounts {
  uint64_t records = 0;     ///< Delivered.
  uint64_t damaged = 0;     ///< Skipped one by one: the payload's checksum was wrong, or it was too long.
  uint64_t lost_bytes = 0;  ///< After a damaged length, or in a truncated record; of a stream, those already read.
  Error last;               ///< Why something was skipped the last time.
};

/// One thread at a time.
class RecordReader {
 public:
  /// Opens a file, a pipe or a device; "-" is the standard input. An empty file has no records, whatever its
  /// compression. NotFound, FailedPrecondition or another error of the system; Unimplemented for Snappy; DataLoss iff
  /// the compression is not the one in `options`.
  static Result<std::unique_ptr<RecordReader>> open(const std::string& path, const RecordReaderOptions& options = {});
  static void open(internal::ListOfNames, const RecordReaderOptions& = {}) = delete;
  /// Reads `stream`, compressed or not.
  static Result<std::unique_ptr<RecordReader>> over(std::unique_ptr<ByteReader> stream,
                                                    const RecordReaderOptions& options = {});
  /// Reads `memory`, which must outlive the reader; uncompressed records are read in place.
  static Result<std::unique_ptr<RecordReader>> over(const std::string& name, std::span<const std::byte> memory,
                                                    const RecordReaderOptions& options = {});
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  /// The payload of the next record, valid until the next call of any function but check(), position(), counts() and
  /// name(); nullopt at the end. A later call then returns records that were appended to a plain file meanwhile.
  ///
  /// DataLoss, with file, offset and record, iff bytes are damaged. If only the payload's checksum is wrong, the next
  /// call continues after that record; otherwise it returns the same error.
  Result<std::optional<std::span<const std::byte>>> next();
  /// OK iff all payloads returned so far were the file's content when they were read. A file that is read in place may
  /// shrink at any time, so call this after payloads were copied or parsed, and discard the results on error. Asks the
  /// system, 2 to 4 microseconds: once per batch is enough.
  Result<void> check() const;

  /// The position before the record that next() tries next.
  RecordPosition position() const;
  /// Goes to a position() of this file. A wrong one is OutOfRange (after the end) here, or DataLoss in next(), because
  /// the checksums there are wrong. In a compressed file it reads everything in between, from the start if the position
  /// lies back; FailedPrecondition where that is impossible, as in a pipe. After an error position() is unchanged; if a
  /// stream was read on the way, next() returns the error too until a seek() succeeds.
  Result<void> seek(RecordPosition position);
  const RecordCounts& counts() const;
  const std::string& name() const;
  Compression compression() const;

 private:
  class State;
  explicit RecordReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond

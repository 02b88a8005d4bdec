// SPDX-License-Identifier: Apache-2.0
// Reads one TFRecord file (docs/formats/tfrecord.md) in order, every record verified by both its checksums: plain files
// in place, gzip and zlib (by the first bytes, never by the name) through a buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headpond/base/status.h"
#include "headpond/io/file/compression.h"
#include "headpond/io/file/file.h"

namespace headpond {
/// What a reader does where bytes are damaged. `skip` is for damaged data only: a file that shrinks meanwhile, also a
/// compressed one, and what the system refuses or cannot read are errors always.
enum class OnDamage : uint8_t {
  fail,  ///< The call returns the error.
  skip,  ///< Leaves out the record, or the rest of the file where nobody knows the next record's place; counts it.
};

struct RecordReaderOptions {
  OnDamage on_damage = OnDamage::fail;
  std::optional<Compression> compression = std::nullopt;    ///< If given, anything else is DataLoss when opened.
  uint64_t max_record_bytes = uint64_t{1} << 30;            ///< A longer record counts as damaged.
  uint64_t max_inflated_bytes = UINT64_MAX;                 ///< ResourceExhausted behind it, if compressed.
  std::optional<uint64_t> expected_records = std::nullopt;  ///< If given, another number at the end is DataLoss.
};

/// A place between two records. A record's number counts those before it in the file, damaged ones included.
struct RecordPosition {
  uint64_t offset = 0;  ///< In the inflated bytes.
  uint64_t record = 0;
  bool operator==(const RecordPosition&) const = default;
};

struct RecordCounts {
  uint64_t records = 0;     ///< Delivered.
  uint64_t damaged = 0;     ///< Left out one by one: the payload's checksum did not fit, or it was too long.
  uint64_t lost_bytes = 0;  ///< Behind a damaged length or in a cut record; of a stream, what was at hand of them.
  Error last;               ///< Why something was left out the last time.
};

/// One thread at a time.
class RecordReader {
 public:
  /// A file, a pipe or a device; "-" is the standard input. An empty file has no records, whatever its compression.
  /// NotFound, FailedPrecondition or what else the system says; Unimplemented for Snappy; DataLoss iff the compression
  /// is not the one that was asked for.
  static Result<std::unique_ptr<RecordReader>> open(const std::string& path, const RecordReaderOptions& options = {});
  /// What `stream` gives, compressed or not.
  static Result<std::unique_ptr<RecordReader>> over(std::unique_ptr<ByteReader> stream,
                                                    const RecordReaderOptions& options = {});
  /// `memory`, which must outlive the reader; plain ones are read in place.
  static Result<std::unique_ptr<RecordReader>> over(const std::string& name, std::span<const std::byte> memory,
                                                    const RecordReaderOptions& options = {});
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  /// The next record's payload, valid until the next call of any but check(), position(), counts() and name(); nullopt
  /// at the end, where asking again gives what was appended to a plain file meanwhile.
  ///
  /// DataLoss, with file, offset and record, where bytes are damaged. If only the payload's checksum does not fit, the
  /// next call goes on behind that record; else it says the same again.
  Result<std::optional<std::span<const std::byte>>> next();
  /// Iff OK, all payloads given so far were the file's when they were read; to be asked after payloads were copied or
  /// parsed, because a file in place may shrink at any time. Asks the system, 2 to 4 microseconds: once a batch is
  /// enough.
  Result<void> check() const;

  /// Before the record that next() tries next.
  RecordPosition position() const;
  /// Goes to a position() of this file. A wrong one is OutOfRange (behind the end) here, or DataLoss in next(): what
  /// stands there has no fitting checksums. Inflates again from the start to go back in a compressed file, and reads
  /// all in between; FailedPrecondition where that is not possible, as in a pipe. After an error position() is as it
  /// was; a stream that was read on the way there says the error in next() too, until a seek() succeeds.
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

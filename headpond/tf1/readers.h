// SPDX-License-Identifier: Apache-2.0
// The readers of TensorFlow 1: they take names of files from a queue and return the files' records.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/io/compression/compression.h"
#include "headpond/io/record/fixed_length.h"
#include "headpond/queue/queue.h"

namespace headpond::tf1 {

namespace internal {
class ReaderState;
}

struct KeyValue {
  std::string key;    ///< Which record it is; each reader says how.
  std::string value;  ///< Its bytes.
};

/// A handle: copies are the same reader. Thread-safe. Construct one of the types below.
///
/// A reader takes a file's name from the queue when it has no file to go on with, and returns the file's records in
/// order. One thread sees one file after the other, as in TensorFlow. Several threads read different files at the same
/// time; the next call, of any thread, goes on with a file. The lock covers only bookkeeping, neither reading nor the
/// wait for a name (TensorFlow's lock covers both, so its threads take turns). A thread that waits for a name goes on
/// waiting if a file becomes free meanwhile.
///
/// Errors: OutOfRange, the queue's, when it has no more names and all files are finished; other errors of the queue;
/// InvalidArgument for a queue of anything but scalar strings; an error of a file, or ResourceExhausted without memory
/// for its record, once: the file is given up, not counted as completed, and the next call goes on with another one.
/// Records that a call found before the error are returned first. Cancelled and DeadlineExceeded as Wait says; they do
/// not interrupt the read of a file.
class Reader {
 public:
  Result<KeyValue> read(const Queue& queue, Wait wait = {}) const;
  /// 1 to `n` records of one file; fewer than `n` only at its end. InvalidArgument for n < 1.
  Result<std::vector<KeyValue>> read_up_to(const Queue& queue, int64_t n, Wait wait = {}) const;

  int64_t num_records_produced() const;
  /// Files whose end was seen: by the call after their last record, or, of WholeFileReader and IdentityReader, by the
  /// call that returns it.
  int64_t num_work_units_completed() const;

  /// The counts, and the files that were begun, each with its position; neither the queue's content nor the size or
  /// time of a file: a file that changed is read on from the same position. 41 bytes, and the reader's type and options
  /// as text; for each file 24 bytes and its name. Records that other threads are reading count as not read. A name
  /// that such a thread has just taken may be neither in the queue nor in the state: to save reader and queue together,
  /// let no thread be inside read.
  std::string serialize_state() const;
  /// Goes on from `state`; files are opened when they are read. FailedPrecondition for the state of a reader of another
  /// type or other options, DataLoss for damaged bytes: the reader then stays as it was.
  Result<void> restore_state(std::string_view state) const;
  /// Forgets the counts and the files that were begun.
  void reset() const;

 protected:
  explicit Reader(std::shared_ptr<internal::ReaderState> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<internal::ReaderState> state_;
};

/// One record for each file: its whole content. Key: the name.
class WholeFileReader : public Reader {
 public:
  WholeFileReader();
};

struct TextLineReaderOptions {
  int64_t skip_header_lines = 0;                ///< At the beginning of each file.
  uint64_t max_line_bytes = uint64_t{1} << 30;  ///< A longer line is an error.
};

/// The lines of texts (io/text/text_lines.h). Key: "<name>:<line>", counted from 1, header lines included. Throws
/// Exception(InvalidArgument) for a negative number of header lines.
class TextLineReader : public Reader {
 public:
  explicit TextLineReader(TextLineReaderOptions options = {});
};

/// Records of one length (io/record/fixed_length.h, which also says what is thrown), of gzip and zlib files too
/// (TensorFlow's `encoding`): options.compression. Key: "<name>:<record>", counted from 0. A restored reader inflates a
/// compressed file again up to its position.
class FixedLengthRecordReader : public Reader {
 public:
  explicit FixedLengthRecordReader(FixedLengthOptions options);
};

struct TFRecordReaderOptions {
  /// If given, a file that is compressed otherwise is an error. Throws Exception(InvalidArgument) for one that is
  /// unknown.
  std::optional<Compression> compression = {};
};

/// The records of TFRecord files (io/record/record_reader.h), both checksums verified. Key: "<name>:<offset>"; in a
/// compressed file the offset is in the inflated bytes, and a restored reader inflates the file again up to it.
class TFRecordReader : public Reader {
 public:
  explicit TFRecordReader(TFRecordReaderOptions options = {});
};

/// Opens no file. One record for each name: key and value are the name.
class IdentityReader : public Reader {
 public:
  IdentityReader();
};

}  // namespace headpond::tf1

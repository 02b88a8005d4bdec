// SPDX-License-Identifier: Apache-2.0
// The readers of TensorFlow 1: they take names of files from a queue and give what the files hold, record by record.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/io/file/compression.h"
#include "headpond/io/record/fixed_length.h"
#include "headpond/queue/queue.h"

namespace headpond::tf1 {

namespace internal {
class ReaderState;
}

struct KeyValue {
  std::string key;    ///< Where the record is from, as each reader says.
  std::string value;  ///< Its bytes.
};

/// A handle: copies are the same reader. Thread-safe. Make one of the types below.
///
/// A reader takes a file's name from the queue when it has no file to read on, and gives the file's records in order.
/// One thread sees file after file, as in TensorFlow. Of several threads each reads a file of its own, all at the same
/// time; a file is read on by whoever asks next. Only bookkeeping is under a lock, neither reading nor the wait for a
/// name (TensorFlow's lock covers both, so its threads are one). A thread that waits for a name goes on waiting for it
/// when a file becomes free meanwhile.
///
/// Errors: OutOfRange, as the queue tells it, when it has no more names and all files that were begun are finished;
/// what else the queue tells; InvalidArgument for a queue of anything but scalar strings; what a file tells, and
/// ResourceExhausted without memory for what it holds, once: it is then given up, not counted as completed, and the
/// next call goes on with another one. Records that a call found before the error come first. Cancelled and
/// DeadlineExceeded as Wait says; a read of a file is not interrupted.
class Reader {
 public:
  Result<KeyValue> read(const Queue& queue, Wait wait = {}) const;
  /// 1 to `n` records of one file: fewer than `n` only at its end. InvalidArgument for n < 1.
  Result<std::vector<KeyValue>> read_up_to(const Queue& queue, int64_t n, Wait wait = {}) const;

  int64_t num_records_produced() const;
  /// Files whose end was seen: by the call after their last record; of WholeFileReader and IdentityReader by the one
  /// that gives it.
  int64_t num_work_units_completed() const;

  /// The counts, and the files that were begun, each with its place; not what the queue holds, nor the size or time of
  /// a file: one that changed is read on from the same place. 41 bytes and the reader's type and options as text; for
  /// each file 24 and its name. What other threads are reading at that moment counts as not read; but a name that one
  /// has just taken may be neither in the queue nor in here: a state that is saved with its queue needs all threads
  /// outside read.
  std::string serialize_state() const;
  /// Goes on from there: the files are opened when they are read. FailedPrecondition for a state of a reader of another
  /// type or other options; DataLoss for damaged bytes. This reader is then as it was.
  Result<void> restore_state(std::string_view state) const;
  /// Forgets counts and files that were begun.
  void reset() const;

 protected:
  explicit Reader(std::shared_ptr<internal::ReaderState> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<internal::ReaderState> state_;
};

/// One record a file: the whole content. Key: the name.
class WholeFileReader : public Reader {
 public:
  WholeFileReader();
};

struct TextLineReaderOptions {
  int64_t skip_header_lines = 0;                ///< Of each file.
  uint64_t max_line_bytes = uint64_t{1} << 30;  ///< A longer line is an error.
};

/// The lines of texts, as io/text/text_lines.h reads them. Key: "<name>:<line>", from 1, header lines counted. Throws
/// Exception(InvalidArgument) for a negative number of header lines.
class TextLineReader : public Reader {
 public:
  explicit TextLineReader(TextLineReaderOptions options = {});
};

/// Records of one length, as io/record/fixed_length.h reads them, which also says what is thrown. Key:
/// "<name>:<record>", from 0.
class FixedLengthRecordReader : public Reader {
 public:
  explicit FixedLengthRecordReader(FixedLengthOptions options);
};

struct TFRecordReaderOptions {
  std::optional<Compression> compression = {};  ///< If given, a file that is compressed otherwise is an error.
};

/// The records of TFRecord files, as io/record/record_reader.h reads them, both checksums verified. Key:
/// "<name>:<offset>", of a compressed file in its inflated bytes. To go on in one it is inflated again up to that
/// place.
class TFRecordReader : public Reader {
 public:
  explicit TFRecordReader(TFRecordReaderOptions options = {});
};

/// Opens nothing. One record a name: key and value are the name.
class IdentityReader : public Reader {
 public:
  IdentityReader();
};

}  // namespace headpond::tf1

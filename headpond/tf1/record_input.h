// SPDX-License-Identifier: Apache-2.0
// TensorFlow 1's RecordInput: batches of TFRecords from a shuffled buffer, without end. A dataset (tfrecord, shuffle,
// batch) and a Loader do the same with states, and with one order for any number of threads.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/dataset/patterns.h"
#include "headpond/io/compression/compression.h"
#include "headpond/queue/queue.h"

namespace headpond::tf1 {

/// The defaults are TensorFlow's.
struct RecordInputOptions {
  int64_t batch_size = 32;
  int64_t buffer_size = 10'000;  ///< Records that are held in memory and mixed with each other.
  int64_t parallelism = 16;      ///< Files that are read at the same time, each by a thread; at most 1,024.
  double shift_ratio = 0;        ///< Where in an epoch's order of files reading starts. In [0, 1).
  uint64_t seed = 301;           ///< Decides the order of files, and the choices from the buffer.
  std::optional<Compression> compression = {};  ///< See TFRecordReaderOptions::compression.
};

/// Reads from its construction until it is closed. An epoch has each record of each file once, and is complete before
/// the first record of the next one; a batch may have records of both. The files are matched again for each epoch.
/// Their order follows from seed and epoch; workers with the same seed and different shift_ratio start at different
/// files. The first record of an epoch is chosen once the buffer holds half of buffer_size, or the whole epoch; from
/// then on two records are read for each one chosen until the buffer is full, however fast the files are. With
/// parallelism 1 the same seed gives the same batches; with more, batches also depend on the order in which records
/// arrive.
///
/// A handle: copies are the same input. Thread-safe; each record goes to one of the threads that call read(). Its
/// threads end with the last handle.
class RecordInput {
 public:
  /// The files of `patterns` (io/file/glob.h). Throws Exception(InvalidArgument) for no pattern, and for options out of
  /// range.
  explicit RecordInput(const Patterns& patterns, RecordInputOptions options = {});
  /// The same of patterns in braces, one or more: {"a*", "b*"}.
  explicit RecordInput(std::initializer_list<std::string> patterns, RecordInputOptions options = {})
      : RecordInput(Patterns(patterns), options) {}
  /// The same of literals in two pairs of braces, {{"a*", "b*"}}, which would else be the two ends of one text.
  explicit RecordInput(std::initializer_list<headpond::internal::ListOfNames> patterns, RecordInputOptions options = {})
      : RecordInput(Patterns(patterns), options) {}

  /// The next batch_size records. An error of a file or of the pattern ends the input: full batches are returned first,
  /// then each call returns that error. NotFound for files without a record. OutOfRange after close(), once no full
  /// batch is left. Cancelled and DeadlineExceeded as Wait says; they lose no record.
  Result<std::vector<std::string>> read(Wait wait = {}) const;
  /// Stops reading.
  void close() const;
  /// The queue from which read() takes records; each element is one record.
  const Queue& queue() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace headpond::tf1

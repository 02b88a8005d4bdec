// SPDX-License-Identifier: Apache-2.0
// TensorFlow 1's RecordInput: batches of TFRecords out of a shuffled buffer, for ever. The same by a dataset
// (record files, shuffle, batch) and a Loader has states, and one order for any number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/io/file/compression.h"
#include "headpond/queue/queue.h"

namespace headpond::tf1 {

/// The defaults are TensorFlow's.
struct RecordInputOptions {
  int64_t batch_size = 32;
  int64_t buffer_size = 10'000;  ///< So many records are mixed with each other, and held in memory.
  int64_t parallelism = 16;      ///< Files that are read at the same time, each by a thread; up to 1,024.
  double shift_ratio = 0;        ///< Of the files: how far from the begin of an epoch's order one starts. In [0, 1).
  uint64_t seed = 301;           ///< Of the order of files, and of the choices from the buffer.
  std::optional<Compression> compression = {};  ///< As TFRecordReaderOptions::compression.
};

/// Reads from when it is made until it is closed. An epoch has each record of each file once, and ends before the next
/// one's first record is given: only a batch may have records of two. The files are matched anew for each epoch. Their
/// order follows from seed and epoch; workers with the same seed and different shift_ratio start at different ones. An
/// epoch's first record is chosen when half of buffer_size are there, or all that it has; from then on two are read for
/// each one chosen until buffer_size are, however fast the files come. With parallelism 1 the same seed gives the same
/// batches; with more the order in which files arrive does not follow from it.
///
/// A handle: copies are the same input. Thread-safe; a record goes to one of the threads that read. When the last
/// handle goes, its threads end.
class RecordInput {
 public:
  /// The files of `file_pattern`, as io/file/glob.h has it. Throws Exception(InvalidArgument) for options that make no
  /// sense.
  explicit RecordInput(std::string file_pattern, RecordInputOptions options = {});

  /// The next batch_size records. What a file or the pattern tells ends the input: the batches that are full come
  /// first, then that error, again and again; NotFound for files that hold no record. OutOfRange after close(), when
  /// no full batch is left. Cancelled and DeadlineExceeded as Wait says, with no record lost.
  Result<std::vector<std::string>> read(Wait wait = {}) const;
  /// Reads no more.
  void close() const;
  /// From which read() takes, a record an element.
  const Queue& queue() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace headpond::tf1

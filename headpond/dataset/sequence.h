// SPDX-License-Identifier: Apache-2.0
// The sequential run of a dataset: one thread, one element at a time, nothing made ahead. The engine delivers the same
// bytes. Use it to look into a dataset, and in tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/failed_element.h"

namespace headpond {

struct SequenceOptions {
  uint64_t seed = 0;
  int64_t epochs = 1;  ///< In total, those before a restore included. Below 0: without end.
  /// A file to which each failed element that on_error handles is appended, before next() returns a later one: see
  /// docs/bad_samples.md. "": none.
  std::string quarantine = "";
};

/// Delivers epoch after epoch. One thread at a time. A moved-from Sequence can be destroyed and assigned to; all else
/// throws Exception(FailedPrecondition).
class Sequence {
 public:
  /// Opens the dataset's files. Throws Exception: the error of a file that cannot be opened, the quarantine file
  /// included; InvalidArgument for more than one epoch of a dataset without an end.
  explicit Sequence(Dataset dataset, SequenceOptions options = {});
  /// Goes on where `state` was taken. Fails with FailedPrecondition, which names the difference, for a state of another
  /// pipeline, seed or source; with DataLoss for a damaged one. A function without a name cannot be compared: the log
  /// says so, once for each pipeline.
  static Result<Sequence> restored(Dataset dataset, SequenceOptions options, std::string_view state);
  ~Sequence();
  Sequence(Sequence&& other) noexcept;
  Sequence& operator=(Sequence&& other) noexcept;

  /// The next element: `while (auto element = sequence.next()) use(*element);`. After the last element of the last
  /// epoch it returns OutOfRange without a cause (Error::is_end()), and so does each later call. Any other error takes
  /// the place of its element: the next call goes on after it, unless the source itself is lost, whose error comes
  /// again. If the quarantine file cannot be written next() returns that error, and the next call tries again.
  Result<Element> next();
  /// The epoch of the last element.
  int64_t epoch() const;
  /// The number of the last element in its epoch, errors not counted; -1 before the first one.
  int64_t index() const;

  /// The failures that each on_error handled since this was made or restored, in order of their first failures.
  const std::vector<FailedCounts>& failed() const;

  /// The position after the last element that next() returned. Once the end of an epoch was seen, it is the beginning
  /// of the next one.
  std::string state() const;

 private:
  struct Run;
  Run& run() const;  // Throws if there is none.
  std::unique_ptr<Run> run_;
};

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// The sequential meaning of a dataset: one thread, one element at a time, nothing ahead. What the engine is measured
// against, byte for byte, and good enough for a short look into a dataset.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"

namespace headpond {

struct SequenceOptions {
  uint64_t seed = 0;
  int64_t epochs = 1;  ///< All together, also after a restore. Below 0: for ever.
};

/// Epoch after epoch. One thread at a time.
class Sequence {
 public:
  /// Throws Exception(InvalidArgument) for an epoch without an end when there is more than one.
  explicit Sequence(Dataset dataset, SequenceOptions options = {});
  /// Goes on where `state` was taken. FailedPrecondition, the difference named, for the state of another pipeline, seed
  /// or source; DataLoss for a damaged one.
  static Result<Sequence> restored(Dataset dataset, SequenceOptions options, std::string_view state);
  ~Sequence();
  Sequence(Sequence&& other) noexcept;

  /// The next element: `while (auto element = sequence.next()) use(*element);`. After the last element of the last
  /// epoch it returns OutOfRange without a cause (Error::is_end()), and so does each later call. Any other error takes
  /// the place of its element: the next call goes on after it, unless the source itself is lost, whose error comes
  /// again.
  Result<Element> next();
  /// Of the last element.
  int64_t epoch() const;
  /// The last element's number in its epoch, errors not counted; -1 before the first one.
  int64_t index() const;

  /// Where this stands after the last element that next() gave. The state of (epoch, end) once the end was seen is that
  /// of (epoch + 1, begin).
  std::string state() const;

 private:
  struct Run;
  std::unique_ptr<Run> run_;
};

}  // namespace headpond

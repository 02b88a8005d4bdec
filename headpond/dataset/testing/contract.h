// SPDX-License-Identifier: Apache-2.0
// The promises that every dataset keeps, checked without threads. Tests of operators include headpond/testing.h, which
// also checks a Loader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond {

struct ContractOptions {
  uint64_t seed = 7;
  /// For a dataset with an end; one without has 1.
  int64_t epochs = 2;
  /// The check looks at so many elements and errors of a run only. At least 1.
  int64_t most_elements = 1'000;
  /// Loaders are run with 0, 1, ... so many threads; at least 0. (sequence_violation starts none.)
  int threads = 4;
  /// An operator gives nothing where its input fails, as ignore_errors and on_error do: errors need not reach the
  /// consumer.
  bool may_ignore_errors = false;
  /// The same operators with one argument changed: their states must be refused.
  std::vector<Dataset> other_plans = {};
};

/// "" iff `dataset` keeps these promises, else the first violation, in words:
/// - Each element has the fields, dtypes and shapes of the dataset's spec.
/// - No operator asks its input for a position that it does not have, as with `slots` that are too many; a stream, or a
///   dataset with holes, gives no more elements than it has `slots`; a Combining operator stays within its `reach`.
/// - A second run delivers the same bytes, errors and states; the end stays.
/// - A run restored after any call has the same state at once, and delivers the same rest, byte for byte, with the same
///   states. (Of more than 500 calls, 500 evenly spread ones.)
/// - The elements that a view gives at the positions are those that an iteration delivers; so are their errors, but for
///   batches, whose later rows move up. at() gives the same for another thread's Context, in another order, and when
///   fields are written to output slots; fill() writes what at() gives.
/// - An operator whose input has nothing yet goes on later as if nothing had happened; one whose input fails answers
///   with an error.
/// - A state of `other_plans` is refused, and theirs refuse this one's.
/// One thread at a time for one dataset; functions are called often. Throws nothing.
std::string sequence_violation(const Dataset& dataset, const ContractOptions& options = {});

/// A step that forgets positions: its elements are its input's, and have only an order, as those of a generator.
Step as_stream();

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// TensorFlow 1's match_filenames_once: a list of files that stays the same during a run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/patterns.h"

namespace headpond::tf1 {

/// Patterns (io/file/glob.h), and the files that they matched at the first call. A handle: copies are the same list.
/// Thread-safe.
class MatchedFilenames {
 public:
  explicit MatchedFilenames(const Patterns& patterns);

  /// The files, matched by the first call that succeeds. Fails as expand_files does; the next call tries again.
  Result<std::vector<std::string>> value() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// The files of all patterns, in the order of the patterns.
MatchedFilenames match_filenames_once(const Patterns& patterns);

}  // namespace headpond::tf1

// SPDX-License-Identifier: Apache-2.0
// TensorFlow 1's match_filenames_once: the list of files that a run keeps, whatever comes or goes meanwhile.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "headpond/base/status.h"

namespace headpond::tf1 {

/// Patterns (io/file/glob.h) and the files that they meant when somebody asked first. A handle: copies are the same
/// list. Thread-safe.
class MatchedFilenames {
 public:
  explicit MatchedFilenames(std::vector<std::string> patterns);

  /// The files, matched by the first call that succeeds. Errors are those of expand_files, and are not kept.
  Result<std::vector<std::string>> value() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

MatchedFilenames match_filenames_once(std::string pattern);
/// The files of all patterns, each in its place.
MatchedFilenames match_filenames_once(std::vector<std::string> patterns);

}  // namespace headpond::tf1

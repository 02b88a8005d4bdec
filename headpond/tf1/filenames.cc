// SPDX-License-Identifier: Apache-2.0
#include "headpond/tf1/filenames.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/io/file/glob.h"

namespace headpond::tf1 {

struct MatchedFilenames::State {
  explicit State(const Patterns& given) : patterns(given.all()) {}

  const std::vector<std::string> patterns;
  Mutex mu;
  std::optional<std::vector<std::string>> files HEADPOND_GUARDED_BY(mu);
};

MatchedFilenames::MatchedFilenames(const Patterns& patterns) : state_(std::make_shared<State>(patterns)) {}

Result<std::vector<std::string>> MatchedFilenames::value() const {
  MutexLock lock(state_->mu);
  if (!state_->files) {
    auto files = expand_files(state_->patterns);
    if (!files) return files;
    state_->files = std::move(*files);
  }
  return *state_->files;
}

MatchedFilenames match_filenames_once(const Patterns& patterns) { return MatchedFilenames(patterns); }

}  // namespace headpond::tf1

// SPDX-License-Identifier: Apache-2.0
// Where Sequence and Loader keep the failures that on_error handled. Not for users.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/failed_element.h"
#include "headpond/dataset/quarantine/quarantine.h"
#include "headpond/io/file/file_writer.h"

namespace headpond::internal {

/// Counts what on_error met in a run and writes it down, in the order of delivery. One thread at a time.
///
/// The same failure of the same pipeline, seed and epoch gives the same line, also in a run that was resumed, because
/// its numbers are part of the state. A line that the file already has is not written again.
class FailureLog {
 public:
  /// `path`: the file to append to; "": none. Throws Exception if it cannot be opened or read.
  FailureLog(const Dataset& dataset, uint64_t seed, const std::string& path);

  /// Takes the failures of an answer that the program gets now, and leaves the list empty.
  void add(std::vector<FailedElement>& failed);
  /// Writes the lines of what was added. After an error they are kept for the next call.
  Result<void> write();
  /// Brings them to the disk: called before a state is saved, so that a state knows no more than the file.
  Result<void> sync();
  /// sync() has nothing to do.
  bool is_synced() const { return !unsynced_; }
  /// Counts of all failures that were added so far, by on_error, in order of their first failures.
  const std::vector<FailedCounts>& counts() const { return counts_; }

 private:
  void find_handlers(const Node& node, int64_t& step);
  std::optional<int64_t> step_of(const FailedElement& failed);
  QuarantineEntry entry_of(const FailedElement& failed);
  void count(const FailedElement& failed);

  const Dataset dataset_;
  const uint64_t seed_;
  std::string pipeline_;
  std::optional<std::map<const Node*, int64_t>>
      handlers_;  // The steps of those in the plan; found at the first failure.
  std::optional<FileAppender> file_;
  std::unordered_set<size_t> known_;  // Hashes of the lines that the file had when it was opened.
  bool has_part_ = false;             // The file ends in a part of a line.
  bool unsynced_ = false;
  std::string pending_;
  std::vector<FailedCounts> counts_;
};

}  // namespace headpond::internal

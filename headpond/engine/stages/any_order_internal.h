// SPDX-License-Identifier: Apache-2.0
// The position of a buffer that delivers out of order: all items before `position` were delivered, and some after it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "headpond/dataset/state.h"

namespace headpond::internal {

/// One thread at a time.
class AnyOrder {
 public:
  /// Item `ordinal`, counted from the start or the restored position, was delivered; `after` is the position after it.
  void give(int64_t ordinal, std::string after);
  /// True iff it was delivered before the restore.
  bool was_given(int64_t ordinal) const { return given_before_.contains(ordinal); }

  /// How many items were delivered after the first undelivered one.
  int64_t given_early() const { return static_cast<int64_t>(ahead_.size()); }
  /// The position before which everything was delivered. REQUIRES: begin() was called.
  const std::string& position() const { return position_; }
  /// Starts at `position`.
  void begin(std::string position) { position_ = std::move(position); }
  /// The ordinals delivered early, relative to low_; nothing if there are none.
  void save(StateVisitor& visitor) const;
  /// What save() wrote, if there is anything left to read.
  void restore(StateVisitor& visitor);

 private:
  std::string position_;
  int64_t low_ = 0;                       // All items before it were delivered.
  std::map<int64_t, std::string> ahead_;  // Positions after the items delivered from `low_` on.
  std::set<int64_t> given_before_;
};

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// Where a buffer stands whose items are not given in order: the place up to which all were given, and which ones of
// those behind it were.
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
  /// WorkItem `ordinal`, counted from the begin or the restored place, was given; `place` is the one behind it.
  void give(int64_t ordinal, std::string place);
  /// True iff it was given before the restore.
  bool was_given(int64_t ordinal) const { return given_before_.contains(ordinal); }

  /// How many items behind the first one that was not given were.
  int64_t given_early() const { return static_cast<int64_t>(ahead_.size()); }
  /// Where all before were given. REQUIRES: begin() was called.
  const std::string& place() const { return place_; }
  /// Starts at `place`.
  void begin(std::string place) { place_ = std::move(place); }
  /// The ordinals behind it, from it on; nothing if there are none.
  void save(StateVisitor& visitor) const;
  /// What save() wrote, if there is anything left to read.
  void restore(StateVisitor& visitor);

 private:
  std::string place_;
  int64_t low_ = 0;                       // All before it were given.
  std::map<int64_t, std::string> ahead_;  // Places behind those given from `low_` on.
  std::set<int64_t> given_before_;
};

}  // namespace headpond::internal

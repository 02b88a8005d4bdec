// SPDX-License-Identifier: Apache-2.0
// What the engine will do with a dataset, and why, before it does it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond {

struct Rewrite {
  std::string rule;  ///< "fuse maps", "shuffle below map", ...
  bool applied = false;
  std::string reason;  ///< Why, or why not.
};

/// A part of the plan that the engine runs as one, a stage of LoaderStats: see its kinds in docs/concepts.md.
struct Level {
  std::string how;   ///< "rows in place", "positions", "run ahead", "in order".
  std::string what;  ///< The operators in it, from the source on: "range|map|batch".
  std::string why;
  std::string grouping;  ///< How much of it a thread takes at a time, and why.
};

/// What a restored run cannot check, or has to do again.
struct RestoreNote {
  std::string what;  ///< "map(opaque)".
  std::string why;   ///< With what to do about it.
};

struct Explanation {
  std::string plan;           ///< Dataset::plan().
  std::vector<Level> levels;  ///< From the sources to the program.
  std::vector<Rewrite> rewrites;
  std::vector<RestoreNote> restore;  ///< From the sources to the program; empty: exact, checked and at once.
  int64_t batch_bytes = -1;          ///< Of one element as the program gets it; -1: its shape is not fixed.

  std::string to_string() const;  ///< For people.
};

Explanation explain(const Dataset& dataset);

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// How the engine will run a dataset, and why, without running it.
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

/// A part of the plan that the engine runs as one; LoaderStats has figures of the same stages. docs/concepts.md
/// explains the kinds.
struct Stage {
  std::string how;   ///< "rows in place", "positions", "run ahead", "in order".
  std::string what;  ///< The operators in it, from the source on: "range|map|batch"; cut after 16 KiB.
  std::string why;
  std::string grouping;  ///< How much of its work a thread claims at a time, and why.
};

/// A thing that a restored run cannot check, or has to repeat.
struct RestoreNote {
  std::string what;  ///< "map(opaque)".
  std::string why;   ///< With what to do about it.
};

/// An operator whose elements are the same in every epoch, as a cache keeps them.
struct FrozenNote {
  std::string what;  ///< "random_flip(axis=1)".
  std::string why;   ///< Which cache, and what to do about it.
};

/// A take or skip after an order that changes from epoch to epoch, so that it keeps other elements in each.
struct MovingNote {
  std::string what;  ///< "take(count=800)".
  std::string why;   ///< Which shuffle, and what to do about it.
};

struct Explanation {
  std::string plan;           ///< Dataset::plan().
  std::vector<Stage> stages;  ///< From the sources to the program.
  std::vector<Rewrite> rewrites;
  std::vector<RestoreNote>
      restore;  ///< From the sources to the program. Empty: a restore is exact, checked, immediate.
  std::vector<FrozenNote> frozen = {};  ///< Random operators before a cache, from the sources on.
  std::vector<MovingNote> moving = {};  ///< Parts with other elements in each epoch, from the program on.
  int64_t batch_bytes = -1;             ///< Size of one delivered element; -1: its shape is not fixed.

  std::string to_string() const;  ///< Human-readable text.
};

Explanation explain(const Dataset& dataset);

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// A run whose sources now and then answer what real ones answer rarely.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "headpond/dataset/node.h"

namespace headpond::internal {

/// What the iterators and views of a pipeline's sources answer at some calls, in place of an element that then comes at
/// the next call (of a stream), or that does not come (at a position).
enum class Planted : uint8_t { pending, errors };

struct WatchedRun {
  /// What the pipeline gave: bytes_of() an element, "!" and the text of an error.
  std::vector<std::string> answers;
  /// "" iff each operator whose input answered an error during a call answered that call with an error; else which did
  /// not.
  std::string lost_error;
  /// "" iff no view was asked for a position that its node doesn't have, else which; it answered with an error.
  std::string asked_outside;
  bool stands_still = false;  ///< `pending` came some thousand times in a row.
};
/// The first `most` answers of an epoch, with `planted` in all sources that are read through `binding` and its feed.
WatchedRun watched_run(const Node& node, const Binding& binding, Planted planted, size_t most);

}  // namespace headpond::internal

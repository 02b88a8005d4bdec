// SPDX-License-Identifier: Apache-2.0
// The record of a failed element that on_error handled. For authors of operators; users see it in a quarantine file
// (quarantine.h) and, counted, in LoaderStats.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond {

class Node;

/// The fate of an element that failed. failed: its error goes to the program.
enum class FailedAction : uint8_t { failed, skipped, substituted };

/// "failed", "skipped" or "substituted".
constexpr const char* to_string(FailedAction action) {
  constexpr const char* kNames[] = {"failed", "skipped", "substituted"};
  return kNames[static_cast<size_t>(action)];
}

/// One failure, at its place in the order of delivery. All of it follows from pipeline, seed and epoch, and is the same
/// in a run that was resumed.
struct FailedElement {
  FailedAction action = FailedAction::failed;
  /// The on_error that met it. A name only, not to be followed: a dataset that a function made may be gone already.
  const Node* handler = nullptr;
  std::shared_ptr<const std::string> handler_title;  ///< "on_error(policy=skip, ...)".
  uint64_t epoch = 0;                                ///< The epoch of the handler's input: see Binding.
  int64_t error_number = 0;                          ///< From 0, of the handler's failures in this epoch.
  int64_t element_number = 0;  ///< From 0, of all elements that the handler read in this epoch, failures included.
  int64_t position = -1;       ///< In the handler's input; -1: it has no positions.
  uint64_t key = 0;            ///< The element's key, as far as it was known.
  Provenance provenance;       ///< The same.
  /// The elements of which the handler's dataset was made, the outermost first: "list, record 3"; "": it is in the
  /// plan.
  std::string outer;
  Error error;
};

/// How many failures an on_error met.
struct FailedCounts {
  std::string op;  ///< Its title.
  int64_t failed = 0, skipped = 0, substituted = 0;
  std::optional<int64_t> step = {};  ///< Its line in Dataset::plan(), from 1; none if a function made it.
};

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// How far each input of an operator over several datasets was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "headpond/dataset/migrate/node_state_internal.h"

namespace headpond::internal {

/// untouched: at its beginning. finished: at its end.
enum class Progress : uint8_t { untouched, running, finished };

struct GivenInput {
  const Node* node;
  Progress progress;
  NodeState state;    ///< The state of running inputs, and of finished ones that are read by position.
  size_t number = 0;  ///< Among the inputs.
};

/// mix, sample_from_datasets: reads all its inputs in turn.
bool is_mixture(const Node& node);
/// concatenate.
bool is_sequence(const Node& node);

/// The inputs of a mixture or a sequence; of another node, itself.
std::vector<GivenInput> given_inputs(const NodeState& state);

/// For each input of `now` the one of `given` that it continues: an equal one, else one with the same sources.
std::vector<std::optional<size_t>> match(const std::vector<GivenInput>& given, const Node& now);

}  // namespace headpond::internal

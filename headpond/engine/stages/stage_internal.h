// SPDX-License-Identifier: Apache-2.0
// How the engine runs each node: the one place that decides, for the Loader as for explain().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/dataset/node.h"

namespace headpond {
class Batching;
class Pointwise;
}  // namespace headpond

namespace headpond::internal {

/// rows: the elements of a batch are made by several threads at once, each in its row. positions: elements are made by
/// several threads at once. ahead: one thread at a time takes elements from an iterator before the consumer asks, then
/// several threads apply `chain`. in_order: the operator's own iterator, run by the caller over inputs that the engine
/// runs.
enum class ExecutionMode : uint8_t { rows, positions, ahead, in_order };

struct Stage {
  ExecutionMode mode = ExecutionMode::in_order;
  const Node* node = nullptr;
  const Batching* batching = nullptr;        ///< For rows.
  std::vector<const Pointwise*> chain = {};  ///< For ahead: operators from the input on; may be empty.
  const Node* input = nullptr;               ///< For ahead: where its elements come from, `node` if there is no chain.
  bool own_iterator = false;                 ///< For ahead: the input's own iterator; else the engine runs the input.
  bool blocking = false;                     ///< Its work waits more than it computes.
};

/// The stage that has `node` at its top.
Stage stage_of(const Node& node);

/// The operators of the stage, from the lowest on: "range|map|batch".
std::string name_of(const Stage& stage);
/// The same with their arguments: "range(count=9)|map(slow)|batch(2)".
std::string titles_of(const Stage& stage);

/// How many bytes an element takes; -1: a shape is not fixed.
int64_t element_bytes(const Spec& spec);
/// The same of an element of `node`; of a batch of such rows, those of a whole one.
int64_t element_bytes(const Node& node);
/// What an element takes of the memory for elements: nothing where it is a view of what is in memory anyway. The same.
int64_t taken_bytes(const Node& node);

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// The position of a run taken apart: which bytes of it belong to which operator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// The state of one node's iterator. `bytes` is own[0], inputs[0].bytes, own[1], inputs[1].bytes, ... own[n].
struct NodeState {
  const Node* node = nullptr;  ///< A node of the plan, see plan_node.
  std::string bytes;
  std::vector<std::string> own = {};
  std::vector<NodeState> inputs = {};  ///< In the order in which the node visits them.
  std::vector<size_t> numbers = {};    ///< Which input of `node` each of them is.
  /// The next position. Only of a node that is read by position, which has no `own` and `inputs`.
  std::optional<int64_t> position = {};
  bool in_order = false;  ///< It runs in order though it has positions.
};

/// The state of a run at `position`; "": at its beginning. `dataset` may be one that run_in_order made. The error is
/// that of a position that the dataset does not have.
Result<NodeState> node_state(const Dataset& dataset, const Binding& binding, const std::string& position);

/// True iff the state has the states of all inputs, apart from what is the operator's own: not so for those that keep
/// older states of their input.
bool is_whole(const NodeState& state);

/// The state of `node` at a position, as if it were read so.
NodeState state_at(const Node& node, int64_t position);

/// A number as iterators save it.
std::string saved_number(int64_t number);
/// The number that `own` begins with.
int64_t first_number(std::string_view own);
/// `own` with its first number replaced by that of `other`.
std::string with_first_number(const std::string& own, const std::string& other);

}  // namespace headpond::internal

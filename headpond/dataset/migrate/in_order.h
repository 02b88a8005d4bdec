// SPDX-License-Identifier: Apache-2.0
// A run whose plan changed within an epoch may need to read in order what has positions: the inputs of a mix with other
// weights go on at positions of their own, which one position of the mix cannot tell. So such a state lists operators
// that run in order until the epoch ends. Not for users.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// Whether `node` gives the same elements if its inputs are iterators, whatever they were before.
bool can_run_in_order(const Node& node);

/// The numbers of `nodes` among the operators of `dataset`: from the sources on, each operator once.
std::vector<int64_t> steps_of(const Dataset& dataset, const std::set<const Node*>& nodes);
/// The operators with these numbers. DataLoss for a number that no operator has.
Result<std::set<const Node*>> nodes_at(const Dataset& dataset, const std::vector<int64_t>& steps);

/// `dataset` for the rest of an epoch: the operators with these numbers, and all those above them, are iterators.
/// `dataset` itself if there are none. Errors as nodes_at; FailedPrecondition for an operator that cannot run in order.
Result<Dataset> run_in_order(const Dataset& dataset, const std::vector<int64_t>& steps);

/// The node of the plan that `node`, of a dataset that run_in_order made, stands for; else `node` itself.
const Node& plan_node(const Node& node);

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// Where each operator of a new plan goes on, found from the state of the old one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/migrate/migrate.h"
#include "headpond/dataset/migrate/node_state_internal.h"

namespace headpond::internal {

/// The state at which a node of the new plan begins. By default it is that of its beginning, over such inputs.
struct NewState {
  std::optional<int64_t> position = {};    ///< It is read by position, and goes on here.
  std::optional<std::string> bytes = {};   ///< It has this state, that of the same node in the old plan.
  std::string first_number = {};           ///< Its own state begins with this number, if not empty.
  std::vector<std::string> own = {};       ///< Its own state, between those of `order`; if empty, as at its beginning.
  std::vector<size_t> order = {};          ///< For own: the inputs whose states it has.
  std::map<size_t, NewState> inputs = {};  ///< By their number; others are at their beginning.
};

struct Carried {
  NewState root;
  std::set<const Node*> in_order;    ///< Nodes of the new plan: see in_order.h.
  std::vector<MigrationStep> steps;  ///< Steps of sources.
};

/// `in_order`: nodes of the old plan that run in order in `then`. FailedPrecondition where a position cannot be
/// carried.
Result<Carried> carry(const NodeState& then, const std::set<const Node*>& in_order, const Node& now);

/// The bytes of `state`. `dataset`: the new plan as it runs now, see run_in_order.
Result<std::string> saved_state(const Dataset& dataset, const Binding& binding, const NewState& state);

}  // namespace headpond::internal

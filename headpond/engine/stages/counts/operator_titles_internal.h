// SPDX-License-Identifier: Apache-2.0
// What people know an operator by, where a plan has several of its kind.
#pragma once

#include <string>
#include <vector>

#include "headpond/dataset/node.h"
#include "headpond/engine/loader_stats.h"

namespace headpond::internal {

/// Its name and arguments, but for what says nothing: "map(decode)"; "map", of a function without a name.
std::string title_of(const Node& node);
/// Sets the titles of the operators of a stage, from the sources on, and numbers those that are alike: "map, the 2nd of
/// 3". `nodes`: theirs.
void set_titles(const std::vector<const Node*>& nodes, std::vector<OperatorCost>& operators);

}  // namespace headpond::internal

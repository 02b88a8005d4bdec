// SPDX-License-Identifier: Apache-2.0
// What map and filter say about their function and its result.
#pragma once

#include <string>

#include "headpond/dataset/ops/element.h"

namespace headpond::internal {

/// The facts of map and filter. `args`: text before the function's name and version.
Node::Facts function_facts(const Node::Ref& input, Role role, const std::string& args, const MapOptions& options,
                           Spec spec);
/// The result's fields: the function's type tells them and the options give names, or the options tell all. Throws
/// Exception(InvalidArgument) if options and type contradict each other, or neither tells.
Spec map_result_spec(const std::string& op, const Function& function, const MapOptions& options);

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// What both forms of map say about their function and its result.
#pragma once

#include <string>

#include "headpond/dataset/ops/element.h"

namespace headpond::internal {

/// The facts of map and filter. `args`: what is to be said before the function's name and version.
Node::Facts function_facts(const Node::Ref& input, Role role, const std::string& args, const MapOptions& options,
                           Spec spec);
/// The result's fields: the options give names to what the function's type tells, or tell it themselves. Throws
/// Exception(InvalidArgument) if they contradict each other, or neither tells.
Spec map_result_spec(const std::string& op, const Function& function, const MapOptions& options);

}  // namespace headpond::internal

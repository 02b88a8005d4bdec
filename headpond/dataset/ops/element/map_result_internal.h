// SPDX-License-Identifier: Apache-2.0
// What map and filter say about their function and its result.
#pragma once

#include <string>

#include "headpond/dataset/ops/element.h"

namespace headpond::internal {

/// "opaque", or "times, version=2": how the args of an operator name its function.
std::string function_label(const MapOptions& options);
/// The facts of map and filter. `args`: text before the function's name and version.
Node::Facts function_facts(const Node::Ref& input, Role role, const std::string& args, const MapOptions& options,
                           Spec spec);
/// The result's fields: the function's type tells them and the options give names, or the options tell all. Throws
/// Exception(InvalidArgument) if options and type contradict each other, or neither tells.
Spec map_result_spec(const std::string& op, bool type_tells_all, const Spec& result, const MapOptions& options);
inline Spec map_result_spec(const std::string& op, const Function& function, const MapOptions& options) {
  return map_result_spec(op, function.type_tells_all, function.result, options);
}

}  // namespace headpond::internal

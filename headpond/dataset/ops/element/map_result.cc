// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops/element/map_result_internal.h"

namespace headpond::internal {

std::string function_label(const MapOptions& options) {
  return options.name.empty() ? "opaque" : fmt::format("{}, version={}", options.name, options.version);
}

Node::Facts function_facts(const Node::Ref& input, Role role, const std::string& args, const MapOptions& options,
                           Spec spec) {
  Node::Facts facts =
      facts_over(input, role == Role::filter ? "filter" : "map", args + function_label(options), std::move(spec));
  facts.blocking = options.blocking;
  facts.role = role;
  facts.opaque = options.name.empty();
  return facts;
}

Spec map_result_spec(const std::string& op, bool type_tells_all, const Spec& result, const MapOptions& options) {
  if (!type_tells_all) {
    if (options.output.empty()) refuse(op, "the function's type does not say dtype and shape: set MapOptions::output");
    return options.output;
  }
  if (options.output.empty()) return result;
  if (options.output.size() != result.size()) {
    refuse(op, fmt::format(".output has {} fields, the function gives {}", options.output.size(), result.size()));
  }
  for (size_t i = 0; i < options.output.size(); ++i) {
    const FieldSpec &said = options.output[i], &known = result[i];
    if (said.dtype != known.dtype || !(said.shape == known.shape)) {
      refuse(op, fmt::format(".output says {}, the function gives {}", headpond::to_string(Spec{said}),
                             headpond::to_string(Spec{known})));
    }
  }
  return options.output;
}

}  // namespace headpond::internal

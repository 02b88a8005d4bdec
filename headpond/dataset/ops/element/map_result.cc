// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/ops/element/map_result_internal.h"

namespace headpond::internal {

std::string map_label(const MapOptions& options) {
  return options.name.empty() ? "opaque" : fmt::format("{}, version={}", options.name, options.version);
}

Spec map_result_spec(const std::string& op, const Function& function, const MapOptions& options) {
  if (!function.type_tells_all) {
    if (options.output.empty()) refuse(op, "the function's type does not tell dtype and shape: give .output");
    return options.output;
  }
  if (options.output.empty()) return function.result;
  if (options.output.size() != function.result.size()) {
    refuse(op,
           fmt::format(".output has {} fields, the function gives {}", options.output.size(), function.result.size()));
  }
  for (size_t i = 0; i < options.output.size(); ++i) {
    const FieldSpec &said = options.output[i], &known = function.result[i];
    if (said.dtype != known.dtype || !(said.shape == known.shape)) {
      refuse(op, fmt::format(".output says {}, the function gives {}", to_string({said}), to_string({known})));
    }
  }
  return options.output;
}

}  // namespace headpond::internal

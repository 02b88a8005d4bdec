// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/field_internal.h"

namespace headpond::internal {

size_t field_index(const std::string& op, const Spec& spec, const std::string& name) {
  if (name.empty() && spec.size() == 1) return 0;
  if (name.empty()) refuse(op, fmt::format("which field of {}? give its name", to_string(spec)));
  for (size_t i = 0; i < spec.size(); ++i) {
    if (spec[i].name == name) return i;
  }
  refuse(op, fmt::format("no field '{}' in {}", name, to_string(spec)));
}

void check_names(const std::string& op, const Spec& spec) {
  for (auto field = spec.begin(); field != spec.end(); ++field) {
    const auto same = [&](const FieldSpec& other) { return !field->name.empty() && field->name == other.name; };
    if (!std::any_of(spec.begin(), field, same)) continue;
    refuse(op, fmt::format("two fields named '{}' in {}", field->name, to_string(spec)));
  }
}

}  // namespace headpond::internal

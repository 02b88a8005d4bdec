// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/named_fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace headpond::plan {
namespace {

Node::Facts facts_of(const Node::Ref& input, const std::vector<std::string>& names) {
  Node::Facts facts{.op = "rename",
                    .args = fmt::format("{}", fmt::join(names, ", ")),
                    .spec = input->spec(),
                    .kind = input->kind(),
                    .slots = input->facts().slots,
                    .inputs = {input},
                    .role = Role::hint};
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i)) {
      refuse("rename", fmt::format("two fields named '{}'", names[i]));
    }
    facts.spec[i].name = names[i];
  }
  return facts;
}

// Elements carry no names, so the input's elements can be returned as they are.
class Rename final : public Node {
 public:
  Rename(const Node::Ref& input, const std::vector<std::string>& names) : Node(facts_of(input, names)) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override { return view_of(input(), binding); }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return feed.open(input(), binding);
  }
};

}  // namespace

std::string shown_name(const FieldSpec& field) { return field.name.empty() ? "x" : field.name; }

Dataset renamed(const Dataset& dataset, const std::vector<std::string>& names) {
  return Dataset(std::make_shared<Rename>(dataset.node(), names));
}

Dataset named(const Dataset& dataset) {
  const Spec& spec = dataset.spec();
  if (std::none_of(spec.begin(), spec.end(), [](const FieldSpec& field) { return field.name.empty(); })) return dataset;
  std::vector<std::string> names;
  for (const FieldSpec& field : spec) names.push_back(shown_name(field));
  return renamed(dataset, names);
}

std::vector<Dataset> alike(std::span<const std::pair<std::string, Dataset>> inputs) {
  const bool none_named =
      std::ranges::all_of(inputs, [](const auto& input) { return input.second.spec()[0].name.empty(); });
  std::vector<Dataset> parts;
  parts.reserve(inputs.size());
  for (const auto& [chain, input] : inputs) parts.push_back(none_named ? input : named(input));
  return parts;
}

std::string library_name(const Spec& spec, const std::string& name) {
  return spec.size() == 1 && spec[0].name.empty() && name == "x" ? "" : name;
}

}  // namespace headpond::plan

// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/named_fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace headpond::plan {
namespace {

Node::Facts facts_of(const Node::Ref& input, const std::vector<std::string>& names) {
  Node::Facts facts{
      .op = "rename",
      .args = std::ranges::all_of(names, &std::string::empty) ? "" : fmt::to_string(fmt::join(names, ", ")),
      .spec = input->spec(),
      .kind = input->kind(),
      .slots = input->facts().slots,
      .inputs = {input},
      .role = Role::hint};
  for (size_t i = 0; i < names.size(); ++i) {
    const auto own = names.begin() + static_cast<std::ptrdiff_t>(i);
    if (!own->empty() && std::find(names.begin(), own, *own) != own) {
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

bool has_names(const Spec& spec) { return !std::ranges::all_of(spec, &std::string::empty, &FieldSpec::name); }

std::string shown_name(const Spec& spec, size_t i) {
  if (!spec[i].name.empty()) return spec[i].name;
  const auto is_like_it = [](const FieldSpec& field) { return field.name.empty() || field.name == "x"; };
  return std::ranges::count_if(spec, is_like_it) == 1 ? "x" : std::to_string(i);
}

std::vector<std::string> shown_names(const Spec& spec) {
  std::vector<std::string> names;
  for (size_t i = 0; i < spec.size(); ++i) names.push_back(shown_name(spec, i));
  return names;
}

Dataset renamed(const Dataset& dataset, const std::vector<std::string>& names) {
  return Dataset(std::make_shared<Rename>(dataset.node(), names));
}

Dataset named(const Dataset& dataset) {
  const Spec& spec = dataset.spec();
  if (std::none_of(spec.begin(), spec.end(), [](const FieldSpec& field) { return field.name.empty(); })) return dataset;
  return renamed(dataset, shown_names(spec));
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

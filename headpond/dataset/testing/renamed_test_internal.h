// SPDX-License-Identifier: Apache-2.0
// A name for the field of a source that has none, so that it can be zipped with others and found again.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/dataset.h"

namespace headpond::internal {

class RenamedNode final : public Node {
 public:
  RenamedNode(const Node::Ref& input, std::string name) : Node(facts_of(input, std::move(name))) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override { return view_of(input(), binding); }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    return feed.open(input(), binding);
  }

 private:
  static Facts facts_of(const Node::Ref& input, std::string name) {
    Spec spec = input->spec();
    spec.at(0).name = name;
    Facts facts = facts_over(input, "renamed", std::move(name), std::move(spec));
    facts.role = Role::hint;
    return facts;
  }
};

/// The same elements; their first field has this name.
inline Dataset renamed(const Dataset& dataset, std::string name) {
  return Dataset(std::make_shared<RenamedNode>(dataset.node(), std::move(name)));
}

}  // namespace headpond::internal

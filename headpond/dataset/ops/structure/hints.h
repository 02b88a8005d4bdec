// SPDX-License-Identifier: Apache-2.0
// Operators that say how to run their input: what the engine asks them. Not for users.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// The base of these operators. They give the elements of their input.
class Hint : public Node {
 public:
  std::shared_ptr<const View> bind(const Binding& binding) const final { return view_of(input(), binding); }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const final {
    return feed.open(input(), binding);
  }
  /// What explain() says about it. `is_last`: nothing but hints stands between it and the program.
  virtual std::string note(bool is_last) const = 0;

 protected:
  /// What is said is no argument that a state belongs to: it goes to facts().location.
  Hint(const Node::Ref& input, const std::string& op, const std::string& said);
};

/// The hints between the last operator of another role and the program, the last one first.
std::vector<const Hint*> last_hints(const Dataset& dataset);
/// The most elements that the engine may make ahead, as the last prefetch among them says; below 0: any number.
int64_t prefetch_ceiling(const Dataset& dataset);

}  // namespace headpond::internal

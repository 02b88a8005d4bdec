// SPDX-License-Identifier: Apache-2.0
// The base of operators that give one part after the other: the rounds of repeat, the inputs of concatenate.
#pragma once

#include <cstdint>
#include <utility>

#include "headpond/dataset/node.h"

namespace headpond::internal {

/// The positions begin ... begin + slots - 1 are those of part `number`.
struct PartRange {
  int64_t number, begin, slots;
};

/// An operator says what part n is, and which part has a position; this gives the elements of the parts, keys of part
/// n > 0 mixed with n.
class Parts : public Node {
 public:
  /// An input, and what it is bound to as this part of a node bound to `binding`. REQUIRES: 0 <= n < parts().
  virtual std::pair<const Node*, Binding> part(int64_t n, const Binding& binding) const = 0;
  /// kEndless: there is always another one. Then a whole part without an element is an error, and the end: there
  /// might be no other element for ever.
  virtual int64_t parts() const = 0;
  /// REQUIRES: 0 <= i < slots().
  virtual PartRange part_at(int64_t i) const = 0;

  std::shared_ptr<const View> bind(const Binding& binding) const final;
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const final;

 protected:
  using Node::Node;
};

}  // namespace headpond::internal

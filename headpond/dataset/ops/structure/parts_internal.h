// SPDX-License-Identifier: Apache-2.0
// The base of operators that give one part after the other: the rounds of repeat, the inputs of concatenate.
#pragma once

#include <utility>

#include "headpond/dataset/node.h"

namespace headpond::internal {

/// An operator writes where part n is; this goes through the parts, if it is a stream.
class Parts : public Node {
 public:
  /// An input, and what it is bound to as this part of a node bound to `binding`. REQUIRES: 0 <= n < parts().
  virtual std::pair<const Node*, Binding> part(int64_t n, const Binding& binding) const = 0;
  /// kEndless: there is always another one. Then a whole part without an element is an error, and the end: there
  /// might be no other element for ever.
  virtual int64_t parts() const = 0;

  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const final;

 protected:
  using Node::Node;
};

/// Gives back `got`, the key of an element of part n > 0 mixed with n.
inline Got in_part(int64_t n, Got got, Element& out) {
  if (got == Got::value && n > 0) out.key = mix(out.key, static_cast<uint64_t>(n));
  return got;
}

}  // namespace headpond::internal

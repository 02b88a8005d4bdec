// SPDX-License-Identifier: Apache-2.0
// The base of operators that look at one element at a time: map, filter, noise.
#pragma once

#include <string>

#include "headpond/dataset/node.h"

namespace headpond::internal {

/// An operator writes `apply`, and `fill` if that is cheap; this gives the element's key, its place in errors,
/// positions and streams.
class Pointwise : public Node {
 public:
  std::shared_ptr<const View> bind(const Binding& binding) const final;
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const final;

  /// value: `out`, which was empty, has the fields; hole: none; error. `random_key` for random numbers, with the
  /// element's key. Pure; any thread. May throw.
  virtual Got apply(Element& in, RandomKey random_key, Context& context, OutputSlots outputs, Element& out) const = 0;

  /// View::fill over a view of the input; false unless an operator says otherwise. May throw: then it is false too.
  virtual bool fill(const View& input, std::span<const int64_t> positions, RandomKey random_key, Context& context,
                    OutputSlots columns, uint64_t* keys) const;

  /// apply with the rest done: key, provenance, the error's place.
  Got run(Element& in, RandomKey random_key, Context& context, OutputSlots outputs, Element& out) const;

 protected:
  using Node::Node;
};

/// The facts of an operator over one input with its kind and slots.
Node::Facts facts_over(const Node::Ref& input, std::string op, std::string args, Spec spec, bool blocking = false);

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// The base of operators that work on one element at a time: map, filter, add_noise. For authors of operators.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "headpond/dataset/node.h"

namespace headpond {

/// A subclass writes `apply`, and `fill` if its work is cheap. This class passes on keys, names the element in errors,
/// and gives positions and streams.
class Pointwise : public Node {
 public:
  std::shared_ptr<const View> bind(const Binding& binding) const final;
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const final;

  /// Answers value, with the fields in `out`, which was empty; hole: the element is left out; or error. Random numbers
  /// come from `random_key` and the element's key. Pure; any thread. May throw.
  virtual Got apply(Element& in, RandomKey random_key, Context& context, OutputSlots outputs, Element& out) const = 0;

  /// View::fill over a view of the input; false unless a subclass overrides it. An exception counts as false.
  virtual bool fill(const View& input, std::span<const int64_t> positions, RandomKey random_key, Context& context,
                    OutputSlots columns, uint64_t* keys) const;

  /// fill() for an operator with several random streams: `random_keys` are those of keys_of(). Calls fill() with the
  /// first one unless a subclass overrides it.
  virtual bool fill_keys(const View& input, std::span<const int64_t> positions, std::span<const RandomKey> random_keys,
                         Context& context, OutputSlots columns, uint64_t* keys) const;

  /// apply() for an operator with several random streams: a key for each number of keys_of(). Calls apply() with the
  /// first one unless a subclass overrides it.
  virtual Got apply_keys(Element& in, std::span<const RandomKey> random_keys, Context& context, OutputSlots outputs,
                         Element& out) const;
  /// The keys for apply_keys() in a run with this binding: one for each random stream, at least one.
  virtual std::vector<RandomKey> keys_of(const Binding& binding) const;

  /// apply_keys, then sets key and provenance, or names operator and element in the error.
  Got run(Element& in, std::span<const RandomKey> random_keys, Context& context, OutputSlots outputs,
          Element& out) const;

 protected:
  using Node::Node;
};

/// The facts of an operator over one input with its kind and slots.
Node::Facts facts_over(const Node::Ref& input, std::string op, std::string args, Spec spec);

/// fold(...fold(fold(first, slots of input 0), slots of input 1)...). fold may refuse a number by an exception.
Lazy<int64_t> slots_of_all(const std::vector<Node::Ref>& inputs, int64_t first,
                           std::function<int64_t(int64_t, int64_t)> fold);

}  // namespace headpond

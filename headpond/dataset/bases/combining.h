// SPDX-License-Identifier: Apache-2.0
// The base of operators that make an element of several elements of their input: a sliding window, a mixture of two.
// For authors of operators.
#pragma once

#include <cstdint>
#include <string_view>

#include "headpond/dataset/node.h"

namespace headpond {

namespace internal {
/// Of the error of an element that InputElements does not have: a mistake of the operator, not of the data.
inline constexpr std::string_view kAskedBeyond = "it asked for element ";
}  // namespace internal

/// The elements that a Combining operator may read of its input, by number. One thread at a time.
class InputElements {
 public:
  virtual ~InputElements() = default;
  /// value: `element` is number `i` of the input; its values are shared and not to be changed. Another answer is for
  /// `combine` to return: error; pending and end, only of a stream; hole, only of an input of the kind sparse, and then
  /// `combine` may also look elsewhere. An input with positions is asked anywhere in [0, slots()), a stream as
  /// Combining says; any other `i` is an error, OutOfRange.
  Got at(int64_t i, Element& element);
  /// Positions of the input; of a stream what is known of its length, see Node::Facts::slots.
  int64_t slots() const { return slots_; }

 protected:
  /// Elements in [from, to) may be asked for.
  InputElements(int64_t slots, int64_t from, int64_t to, Context& context)
      : slots_(slots), from_(from), to_(to), context_(context) {}

 private:
  friend class Combining;
  virtual Got read(int64_t i, Context& context, Element& element) = 0;

  const int64_t slots_, from_, to_;
  Context& context_;
  bool has_first_ = false;
  uint64_t first_key_ = 0;  // The key of the first element that was read.
  Provenance first_provenance_;
  bool failed_ = false;  // The input's last answer was an error.
};

/// A subclass writes `combine`. This class gives positions where the input has them, and an iterator over a stream; it
/// takes key and provenance from the first element that combine read, and names that element in combine's own errors.
class Combining : public Node {
 public:
  /// Makes element number `i`: answers value, with the fields in `out`, which was empty; hole: the element is left out;
  /// error; or what `input` answered. Random numbers come from `random_key` and the key of an element. Pure; any
  /// thread. May throw.
  virtual Got combine(int64_t i, InputElements& input, RandomKey random_key, Context& context, OutputSlots outputs,
                      Element& out) const = 0;

  std::shared_ptr<const View> bind(const Binding& binding) const final;
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const final;
  /// Only for a stream: elements that an input with positions fails to give are errors, and no others move up.
  bool iterates() const final { return kind() == Kind::stream; }

  /// combine, then sets key and provenance, or names operator and element in the error. True in `input_failed` iff the
  /// error is the input's.
  Got run(int64_t i, InputElements& input, RandomKey random_key, Context& context, OutputSlots outputs, Element& out,
          bool& input_failed) const;

 protected:
  /// `reach`: over a stream, element `i` is made of the elements i ... i + reach - 1 of the input, or of some of them.
  /// The last `reach` are kept, and a restored run reads them again. At least 1. `facts.kind` is that of the input, or
  /// stream.
  Combining(Facts facts, int64_t reach);

 private:
  const int64_t reach_;
};

}  // namespace headpond

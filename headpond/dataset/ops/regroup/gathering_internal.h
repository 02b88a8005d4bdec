// SPDX-License-Identifier: Apache-2.0
// The base of operators that make a batch of each group of elements: bucket_by_sequence_length, batch_by_size.
#pragma once

#include <memory>
#include <span>

#include "headpond/dataset/function.h"
#include "headpond/dataset/ops/regroup/groups_internal.h"

namespace headpond::internal {

/// A stream of batches. An element that fits no batch is an error in its place. A state has the number of batches, and
/// what HeldInput says.
class Gathering : public Node, public GroupRules {
 public:
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const final;

  /// Appends the fields of the batch of group `key` to `out`. REQUIRES: at least one row; all were checked. May throw.
  virtual void stack(int64_t key, std::span<const Element> rows, Context& context, Element& out) const = 0;
  bool drop_remainder() const { return drop_remainder_; }

 protected:
  /// `facts` lack what is the same in all these operators.
  Gathering(Facts facts, bool drop_remainder);

 private:
  const bool drop_remainder_;
};

/// An integer that follows from an element, and its name in the plan.
struct IntegerFunction {
  Function function = {};
  std::string label = "";
  bool opaque = false;
};

/// Throws Exception(InvalidArgument), naming `op`, unless `function` gives one i64 or i32. `what` it is: "length".
void check_integer(const std::string& op, const char* what, const Function& function);
/// The function's value for `element`.
Result<int64_t> call_integer(const Function& function, const Element& element);
/// The length of the field `field`: its first dimension; of a text its bytes. Throws as field_index, and for a field
/// that has no length.
IntegerFunction length_of_field(const std::string& op, const Spec& spec, const std::string& field);

}  // namespace headpond::internal

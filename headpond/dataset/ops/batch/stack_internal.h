// SPDX-License-Identifier: Apache-2.0
// Elements of equal shapes, one above the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headpond/dataset/node.h"

namespace headpond::internal {

/// No error iff `row`, which would be row `number`, has the fields, dtypes and shapes of `first`. The error names both
/// elements.
Error check_same_shapes(const Element& first, int64_t number, const Element& row);

/// Appends field `field` of all rows, stacked, to `out`. REQUIRES: a row at least; equal dtypes and shapes. Throws as
/// Tensor::empty.
void stack_field(std::span<const Element> rows, size_t field, Context& context, OutputSlots outputs, Element& out);

/// Stacks rows as they come. A field of a fixed size is written where it belongs at once, by who makes the row if that
/// writes to those outputs, else by a copy; the others are stacked at the end.
class Stack {
 public:
  /// `spec` is that of a row. `out` is empty, and touched by nobody else before finish(). Throws as Tensor::empty.
  Stack(const Spec& spec, int64_t count, Context& context, OutputSlots outputs, Element& out);

  /// Where the fields of the next row belong.
  OutputSlots row_outputs() const { return row_outputs_; }
  /// Null before the first one.
  const Element* first() const { return rows_.empty() ? nullptr : rows_.data(); }
  /// REQUIRES: `row` fits the spec and has the shapes of the first one; no more than `count`.
  void add(Element row);
  /// REQUIRES: `count` rows, at least one.
  void finish();

 private:
  Context& context_;
  const OutputSlots outputs_;
  Element& out_;
  bool has_loose_ = false;               // A field whose size is known only when all rows are there.
  std::vector<OutputSlot> row_outputs_;  // Null data for a loose field.
  std::vector<Element> rows_;            // All rows if there are loose fields, else the first.
};

}  // namespace headpond::internal

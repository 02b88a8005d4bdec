// SPDX-License-Identifier: Apache-2.0
// Stacks elements of equal shapes.
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

/// Appends the values of field `field` of all rows, one row after the other, to `out` as one tensor of `shape`.
/// REQUIRES: at least one row; equal dtypes; as many values as `shape` has. Throws as Tensor::empty does.
void join_values(std::span<const Element> rows, size_t field, const Shape& shape, Context& context, OutputSlots outputs,
                 Element& out);

/// Stacks field `field` of all rows and appends it to `out`. REQUIRES: at least one row; equal dtypes and shapes.
/// Throws as Tensor::empty does.
void stack_field(std::span<const Element> rows, size_t field, Context& context, OutputSlots outputs, Element& out);

/// Stacks rows as they come. A field of a fixed size is written into the batch at once: by the row's operator, if that
/// uses its output slots, else by a copy. Other fields are stacked at the end.
class Stack {
 public:
  /// `spec`: of a row. `out` is empty, and no other code changes it before finish(). Throws as Tensor::empty does.
  Stack(const Spec& spec, int64_t count, Context& context, OutputSlots outputs, Element& out);

  /// The output slots of the next row.
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

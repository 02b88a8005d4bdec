// SPDX-License-Identifier: Apache-2.0
// The base of operators that stack elements: batch, padded_batch. For authors of operators.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "headpond/dataset/node.h"

namespace headpond {

/// Batches of an indexed input have positions; batches of others have only an order. A run gathers rows from the
/// input's own iterator, also if the input is indexed: an element that fails is left out of its batch, and later rows
/// move up. A request for a position is strict: a row that fails makes the batch an error.
class Batching : public Node {
 public:
  /// `rows`: the spec of a row; a batch has one more dimension, the first. Unless it is empty, `batches` is the spec of
  /// a batch instead; its fields have at least one dimension.
  Batching(std::string op, std::string args, const Node::Ref& input, const Spec& rows, int64_t batch_size,
           bool drop_remainder, const Spec& batches = {});

  std::shared_ptr<const View> bind(const Binding& binding) const override;
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const final;
  bool iterates() const final { return true; }

  /// No error iff `row` can be row `number` of a batch whose first row is `first`; if `first` is null, of any batch.
  virtual Error check(const Element* first, int64_t number, const Element& row) const = 0;
  /// Appends the fields of the batch to `out`. A field whose dtype and full shape the batch keeps, with one dimension
  /// more, has the rows in their order: a run may have them written to `outputs` before, and leaves out this call if
  /// there are no other fields. REQUIRES: at least one row; all were checked. May throw.
  virtual void stack(std::span<const Element> rows, Context& context, OutputSlots outputs, Element& out) const = 0;

  /// check, with this operator and the element named in the error.
  Error check_row(const Element* first, int64_t number, const Element& row) const;
  int64_t batch_size() const { return batch_size_; }
  bool drop_remainder() const { return drop_remainder_; }
  /// Number of rows of batch `k` of an indexed input. REQUIRES: 0 <= k < slots.
  int64_t rows_at(int64_t k) const;

 private:
  const int64_t batch_size_;
  const bool drop_remainder_;
};

/// Stacks elements of equal dtypes and shapes: appends to `out`, for each field, a tensor with one more dimension, the
/// first, of rows.size(). Else error, InvalidArgument, which names the two elements that differ. REQUIRES: at least one
/// row.
Got stack_rows(std::span<const Element> rows, Context& context, OutputSlots outputs, Element& out);

namespace internal {

/// The key of a batch: its number in the epoch.
uint64_t batch_key(int64_t number);
/// Sets that key, and a provenance that names the batch in errors: "batch, record 3".
void name_batch(Element& batch, int64_t number);

}  // namespace internal

}  // namespace headpond

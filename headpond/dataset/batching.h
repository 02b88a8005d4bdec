// SPDX-License-Identifier: Apache-2.0
// What batch and padded_batch share: how elements are gathered, and what a bad one does.
// Not for users.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "headpond/dataset/node.h"

namespace headpond::internal {

/// Batches over an indexed input have positions; over others they have an order only. Iteration gathers what the
/// input's own iterator gives, also over an indexed input, so that an element that fails is left out of its batch and
/// what follows moves up; asking for a position is strict: a bad row makes that batch an error.
class Batching : public Node {
 public:
  /// `rows`: the input's spec as the rows will be; the batch gets a dimension in front.
  Batching(std::string op, std::string args, const Node::Ref& input, const Spec& rows, int64_t batch_size,
           bool drop_remainder);

  std::shared_ptr<const View> bind(const Binding& binding) const override;
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const final;
  bool iterates() const final { return true; }

  /// No error iff `row` can be row `number` of a batch whose first row is `first`. With null: iff it can be that of
  /// some batch.
  virtual Error check(const Element* first, int64_t number, const Element& row) const = 0;
  /// Appends the fields of the batch to `out`. REQUIRES: each row was checked; there is one. May throw.
  virtual void stack(std::span<const Element> rows, Context& context, OutputSlots outputs, Element& out) const = 0;

  /// check, with this operator and the row's place in front.
  Error check_row(const Element* first, int64_t number, const Element& row) const;
  int64_t batch_size() const { return batch_size_; }
  bool drop_remainder() const { return drop_remainder_; }
  /// How many rows batch `k` of an indexed input has. REQUIRES: 0 <= k < slots.
  int64_t rows_at(int64_t k) const;

 private:
  const int64_t batch_size_;
  const bool drop_remainder_;
};

/// The key of a batch: its number in the epoch.
uint64_t batch_key(int64_t number);
/// Gives `batch` that key, and a provenance from which errors have the number: "batch, record 3".
void name_batch(Element& batch, int64_t number);

}  // namespace headpond::internal

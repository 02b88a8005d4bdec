// SPDX-License-Identifier: Apache-2.0
// The rows of batches, one after the other, whatever batches they came in: for unbatch and rebatch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "headpond/dataset/node.h"
#include "headpond/dataset/run_state.h"

namespace headpond::internal {

/// Rows `first` ... `first` + `count` - 1 of `batch`.
struct BatchPart {
  Element batch = {};
  int64_t first = 0, count = 0;
};

/// The number of rows that each batch of `spec` has; kUnknown if the spec does not tell. Throws Exception
/// (InvalidArgument), naming `op`, for a field without rows, and for fields of different numbers of rows.
int64_t known_rows(const std::string& op, const Spec& spec);
/// The spec of a row.
Spec rows_of(const Spec& batches);
/// The rows of a batch, which are those of each field. Fails with InvalidArgument, naming `node` and the batch, if they
/// differ, or are not `expected` of them (unless that is kUnknown).
Result<int64_t> count_rows(const Node& node, const Element& batch, int64_t expected = kUnknown);
/// No error iff the rows of `part` have the shapes of those of `first`; names `node` and both batches.
Error check_rows(const Node& node, const Element& first, const Element& part);
/// Appends the rows of all parts, one part after the other, to `out`. REQUIRES: at least one row; check_rows passed.
void append_rows(std::span<const BatchPart> parts, Context& context, OutputSlots outputs, Element& out);

/// Reads batches from `input` and gives their rows. A state is the number of rows that were given of a batch, and the
/// input's state before it, with the number of errors since: a restored run reads that batch again, and leaves out
/// those errors.
class BatchRows {
 public:
  /// `node` is named in errors, and outlives this.
  BatchRows(const Node& node, std::unique_ptr<Iterator> input) : node_(node), input_(std::move(input)), holes_(node) {}

  /// value: `first` and `count` are set to the next rows of batch(), at least one and at most `most` of them. Else as
  /// Iterator::next.
  Got next(int64_t most, Context& context, int64_t& first, int64_t& count);
  /// The batch of the last rows, until the next call.
  const Element& batch() const { return batch_; }
  /// Leaves out the other rows of batch().
  void drop_batch() { given_ = rows_; }
  void visit_state(StateVisitor& visitor);

 private:
  // hole: an error that was given before the state was saved.
  Got read(Context& context);

  const Node& node_;
  const std::unique_ptr<Iterator> input_;
  Element batch_;
  std::string before_;  // The input's state before batch_, and before the errors that came first.
  int64_t rows_ = 0;    // Rows of batch_; 0: none was read.
  int64_t given_ = 0;   // How many of them were given. After a restore the batch is still to be read.
  int64_t errors_ = 0;  // Errors that came since before_.
  int64_t again_ = 0;   // How many of these are still to come again after a restore.
  bool asked_ = false;  // The input gave pending or an error since before_.
  Holes holes_;         // Batches without a row.
};

}  // namespace headpond::internal

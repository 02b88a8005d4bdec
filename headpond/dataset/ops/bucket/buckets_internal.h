// SPDX-License-Identifier: Apache-2.0
// Buckets by length, and how the elements of one become a batch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headpond/dataset/ops/batch/padded_batch_internal.h"
#include "headpond/dataset/ops/bucket.h"
#include "headpond/dataset/ops/regroup/groups_internal.h"

namespace headpond::internal {

/// How rows become a batch: padded to one shape, or all of one shape already. Immutable.
class RowStack {
 public:
  /// Padded as by padded_batch, whose options these are; throws as padded_fields.
  static RowStack padded(const std::string& op, const Spec& rows, const std::map<std::string, Shape>& padded_shapes,
                         const std::map<std::string, PadWith>& padding_values);
  /// Rows of one shape, as in batch.
  static RowStack plain(const Spec& rows);

  /// The same with `length` in place of each dimension that is padded to the longest row.
  RowStack padded_to(int64_t length) const;
  /// No error iff `row` can be row `number` of a batch whose first row is `first`, which may be null.
  Error check(const Element* first, int64_t number, const Element& row) const;
  /// Appends the fields of a batch to `out`. REQUIRES: at least one row; all were checked. May throw.
  void stack(std::span<const Element> rows, Context& context, Element& out) const;
  /// The spec of batches of `count` rows, which may be kUnknown.
  Spec spec(int64_t count) const;
  /// For the plan.
  std::string to_string() const { return fields_ ? internal::to_string(*fields_) : ", no_padding"; }

 private:
  RowStack(const Spec& rows, std::optional<std::vector<PaddedField>> fields)
      : rows_(rows), fields_(std::move(fields)) {}
  Spec rows_;
  std::optional<std::vector<PaddedField>> fields_;  // Null: not padded.
};

/// Bucket i has the lengths from boundary i - 1 to below boundary i. Immutable.
class Buckets {
 public:
  /// Throws Exception(InvalidArgument), naming `op`, unless the boundaries rise from 1 or more on, and as
  /// padded_fields.
  Buckets(const std::string& op, const Spec& rows, std::vector<int64_t> boundaries, const BucketOptions& options);

  /// The bucket of `length`. Fails for one below 0, and for one beyond the last boundary if batches are padded to it.
  Result<Member> member(int64_t length) const;
  /// GroupRules::check.
  Error check(const Member& member, const Group& group, const Element& element) const;
  /// Gathering::stack.
  void stack(int64_t key, std::span<const Element> rows, Context& context, Element& out) const;
  /// The spec of batches of `count` rows.
  Spec spec(int64_t count) const { return stacks_[0].spec(count); }
  /// For the plan.
  std::string to_string() const;
  /// How the batches of a bucket are made. REQUIRES: there is such a bucket, and batches can be padded to it.
  const RowStack& stack_of(int64_t key) const;

 private:
  const std::vector<int64_t> boundaries_;
  const bool pad_to_boundary_;
  std::vector<RowStack> stacks_;  // For each boundary if batches are padded to it, after the one that is not.
};

/// "opaque", or "tokens, version=2": how a plan names a function.
std::string label_of(const std::string& name, int version);

}  // namespace headpond::internal

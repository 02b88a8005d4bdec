// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "headpond/dataset/bases/stack_internal.h"
#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/ops/bucket/buckets_internal.h"
#include "headpond/dataset/ops/element/map_result_internal.h"

namespace headpond::internal {

RowStack RowStack::padded(const std::string& op, const Spec& rows, const std::map<std::string, Shape>& padded_shapes,
                          const std::map<std::string, PadWith>& padding_values) {
  return {rows, padded_fields(op, rows, padded_shapes, padding_values)};
}

RowStack RowStack::plain(const Spec& rows) { return {rows, std::nullopt}; }

RowStack RowStack::padded_to(int64_t length) const {
  RowStack made = *this;
  for (PaddedField& field : *made.fields_) {
    std::vector<int64_t> dims(field.limit.dims().begin(), field.limit.dims().end());
    for (int64_t& dim : dims) dim = dim == kUnknown ? length : dim;
    field.limit = Shape(std::span<const int64_t>(dims));
  }
  return made;
}

Error RowStack::check(const Element* first, int64_t number, const Element& row) const {
  if (fields_) return check_padded(rows_, *fields_, number, row);
  return first == nullptr ? check_element(rows_, row) : check_same_shapes(*first, number, row);
}

void RowStack::stack(std::span<const Element> rows, Context& context, Element& out) const {
  if (fields_) return stack_padded(rows, *fields_, rows_, context, {}, out);
  for (size_t i = 0; i < rows[0].size(); ++i) stack_field(rows, i, context, {}, out);
}

Spec RowStack::spec(int64_t count) const {
  Spec spec = fields_ ? padded_spec(rows_, *fields_) : rows_;
  for (FieldSpec& field : spec) field.shape = field.shape.stacked(count);
  return spec;
}

Buckets::Buckets(const std::string& op, const Spec& rows, std::vector<int64_t> boundaries, const BucketOptions& options)
    : boundaries_(std::move(boundaries)), pad_to_boundary_(options.pad_to_bucket_boundary) {
  for (size_t i = 0; i < boundaries_.size(); ++i) {
    if (boundaries_[i] >= 1 && (i == 0 || boundaries_[i] > boundaries_[i - 1])) continue;
    refuse(op, fmt::format("bucket_boundaries {}: they must rise, from 1 or more on", fmt::join(boundaries_, " ")));
  }
  if (options.no_padding && (pad_to_boundary_ || !options.padded_shapes.empty() || !options.padding_values.empty())) {
    refuse(op, "no_padding, and how to pad");
  }
  if (pad_to_boundary_ && boundaries_.empty()) refuse(op, "pad_to_bucket_boundary without bucket_boundaries");
  stacks_.push_back(options.no_padding ? RowStack::plain(rows)
                                       : RowStack::padded(op, rows, options.padded_shapes, options.padding_values));
  if (!pad_to_boundary_) return;
  for (const int64_t boundary : boundaries_) stacks_.push_back(stacks_[0].padded_to(boundary - 1));
}

Result<Member> Buckets::member(int64_t length) const {
  if (length < 0) return fail(ErrorKind::InvalidArgument, fmt::format("a length of {}", length));
  const auto bucket = std::upper_bound(boundaries_.begin(), boundaries_.end(), length) - boundaries_.begin();
  if (pad_to_boundary_ && std::cmp_equal(bucket, boundaries_.size())) {
    return fail(
        ErrorKind::InvalidArgument,
        fmt::format("a length of {}, where pad_to_bucket_boundary pads to {} at most", length, boundaries_.back() - 1));
  }
  return Member{.key = bucket, .size = length};
}

const RowStack& Buckets::stack_of(int64_t key) const {
  return stacks_[pad_to_boundary_ ? static_cast<size_t>(key) + 1 : 0];
}

Error Buckets::check(const Member& member, const Group& group, const Element& element) const {
  const Element* const first = group.elements.empty() ? nullptr : group.elements.data();
  return stack_of(member.key).check(first, static_cast<int64_t>(group.elements.size()), element);
}

void Buckets::stack(int64_t key, std::span<const Element> rows, Context& context, Element& out) const {
  stack_of(key).stack(rows, context, out);
}

std::string Buckets::to_string() const {
  return stacks_[0].to_string() + (pad_to_boundary_ ? ", pad_to_bucket_boundary" : "");
}

std::string label_of(const std::string& name, int version) {
  return function_label({.name = name, .version = version});
}

}  // namespace headpond::internal

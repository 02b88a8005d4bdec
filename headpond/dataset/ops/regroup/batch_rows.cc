// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/ops/regroup/batch_rows_internal.h"
#include "headpond/dataset/run_state.h"

namespace headpond::internal {
namespace {

Error named(const Node& node, const Element& batch, const std::string& what) {
  return {ErrorKind::InvalidArgument,
          fmt::format("{}, {}: {}", node.title(), element_name(batch.key, batch.provenance), what)};
}

void append_texts(std::span<const BatchPart> parts, size_t field, const Shape& shape, Element& out) {
  std::vector<std::string_view> texts;
  const int64_t values = shape.row().size().value_or(0);
  for (const BatchPart& part : parts) {
    for (int64_t i = part.first * values; i < (part.first + part.count) * values; ++i) {
      texts.push_back(part.batch[field].bytes_at(i));
    }
  }
  out.append(Tensor::from(std::span<const std::string_view>(texts), shape));
}

}  // namespace

int64_t known_rows(const std::string& op, const Spec& spec) {
  int64_t known = kUnknown;
  for (const FieldSpec& field : spec) {
    if (field.shape.rank() == 0) refuse(op, fmt::format("the input's {} has a field without rows", to_string(spec)));
    const int64_t rows = field.shape[0];
    if (known != kUnknown && rows != kUnknown && rows != known) {
      refuse(op, fmt::format("the fields of {} have different numbers of rows", to_string(spec)));
    }
    if (rows != kUnknown) known = rows;
  }
  return known;
}

Spec rows_of(const Spec& batches) {
  Spec rows = batches;
  for (FieldSpec& field : rows) field.shape = field.shape.row();
  return rows;
}

Result<int64_t> count_rows(const Node& node, const Element& batch, int64_t expected) {
  for (size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].rank() == 0) return fail(named(node, batch, fmt::format("field {} has no rows", i)));
    if (i == 0 && expected == kUnknown) expected = batch[i].dim(0);
    if (batch[i].dim(0) == expected) continue;
    return fail(named(node, batch, fmt::format("field {} has {} rows, expected {}", i, batch[i].dim(0), expected)));
  }
  return expected;
}

Error check_rows(const Node& node, const Element& first, const Element& part) {
  for (size_t i = 0; i < first.size(); ++i) {
    const Shape expected = first[i].shape().row(), found = part[i].shape().row();
    if (found == expected && first[i].dtype() == part[i].dtype()) continue;
    return named(node, part,
                 fmt::format("field {} has rows of shape {}, those before them ({}) have {}", i, found.to_string(),
                             element_name(first.key, first.provenance), expected.to_string()));
  }
  return {};
}

void append_rows(std::span<const BatchPart> parts, Context& context, OutputSlots outputs, Element& out) {
  int64_t rows = 0;
  for (const BatchPart& part : parts) rows += part.count;
  const Element& first = parts[0].batch;
  for (size_t i = 0; i < first.size(); ++i) {
    if (parts.size() == 1 && rows == first[i].dim(0)) {
      out.append(first[i]);
      continue;
    }
    const Shape shape = first[i].shape().row().stacked(rows);
    if (first[i].dtype() == DType::bytes) {
      append_texts(parts, i, shape, out);
      continue;
    }
    std::byte* to = context.allocate_output(out, outputs, first[i].dtype(), shape);
    for (const BatchPart& part : parts) {
      const size_t bytes = part.batch[i].byte_size() / static_cast<size_t>(part.batch[i].dim(0));
      const size_t size = bytes * static_cast<size_t>(part.count);
      if (size > 0) std::memcpy(to, part.batch[i].data() + bytes * static_cast<size_t>(part.first), size);
      to += size;
    }
  }
}

Got BatchRows::read(Context& context) {
  if (!std::exchange(asked_, true)) before_ = position_of(*input_);
  batch_.clear();
  const size_t known = context.failed.size();
  const Got got = input_->next(context, batch_);
  const bool again = again_ > 0 && got == Got::error;
  if (given_ > 0 || again_ > 0) context.failed.resize(known);  // A restored run reads it again, what was given of it.
  if (got == Got::pending) return got;
  if (got == Got::error) {
    if (again) return --again_, Got::hole;
    ++errors_;
    given_ = 0;
    return got;
  }
  asked_ = false;
  again_ = 0;
  const auto rows = got == Got::value ? count_rows(node_, batch_) : Result<int64_t>(0);
  rows_ = rows.value_or(0);
  if (given_ >= rows_) given_ = rows_ = 0;  // Also of a batch that a restored run finds shorter than it was.
  if (rows_ == 0) errors_ = 0;
  return rows ? got : context.fail(rows.error());
}

Got BatchRows::next(int64_t most, Context& context, int64_t& first, int64_t& count) {
  if (rows_ > 0 && given_ == rows_) given_ = rows_ = errors_ = 0;
  while (rows_ == 0) {
    if (const Got got = read(context); got != Got::value && got != Got::hole) return got;
  }
  first = given_;
  count = std::min(most, rows_ - given_);
  given_ += count;
  return Got::value;
}

void BatchRows::visit_state(StateVisitor& visitor) {
  const bool all_given = rows_ > 0 && given_ == rows_;
  int64_t given = all_given ? 0 : given_, errors = all_given ? 0 : errors_;
  if (errors > 0) given = -1 - given;  // Their number follows.
  visitor.number_within(given, -kEndless, kEndless);
  if (given < 0) visitor.number_within(errors, 1, kEndless);
  if (!visitor.is_restoring() && !all_given && (rows_ > 0 || asked_)) return visitor.append(before_);
  input_->visit_state(visitor);
  if (!visitor.is_restoring()) return;
  given_ = given < 0 ? -1 - given : given;
  errors_ = again_ = given < 0 ? errors : 0;
}

}  // namespace headpond::internal

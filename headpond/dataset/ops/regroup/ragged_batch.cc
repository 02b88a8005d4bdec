// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/bases/stack_internal.h"
#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/ops/regroup.h"

namespace headpond {
namespace {

// How many dimensions of a row are ragged: those up to the last unknown one.
int ragged_rank(const Shape& row) {
  int rank = 0;
  for (int axis = 0; axis < row.rank(); ++axis) rank = row[axis] == kUnknown ? axis + 1 : rank;
  return rank;
}

std::string splits_name(const std::string& field, int level) {
  return (field.empty() ? "" : field + ".") + "row_splits" + (level == 0 ? "" : fmt::format("_{}", level));
}

Spec ragged_spec(const Spec& rows, int64_t height, DType splits) {
  Spec spec;
  for (size_t i = 0; i < rows.size(); ++i) {
    const FieldSpec& field = rows[i];
    const std::string label = field.name.empty() && rows.size() > 1 ? fmt::format("{}", i) : field.name;
    const int rank = ragged_rank(field.shape);
    const Shape inner(field.shape.dims().subspan(static_cast<size_t>(rank)));
    spec.push_back({field.name, field.dtype, inner.stacked(rank == 0 ? height : kUnknown)});
    for (int level = 0; level < rank; ++level) {
      const int64_t count = level == 0 && height != kUnknown ? height + 1 : kUnknown;
      spec.push_back({splits_name(label, level), splits, {count}});
    }
  }
  check_names("ragged_batch", spec);
  return spec;
}

class RaggedBatch final : public Batching {
 public:
  RaggedBatch(const Node::Ref& input, int64_t batch_size, const RaggedBatchOptions& options)
      : Batching("ragged_batch", fmt::format(", row_splits_dtype={}", name(options.row_splits_dtype)), input,
                 input->spec(), batch_size, options.drop_remainder,
                 ragged_spec(input->spec(), options.drop_remainder ? batch_size : kUnknown, options.row_splits_dtype)),
        splits_(options.row_splits_dtype) {}

  Error check(const Element*, int64_t, const Element& row) const override {
    return internal::check_element(input().spec(), row);
  }
  void stack(std::span<const Element> rows, Context& context, OutputSlots, Element& out) const override {
    for (size_t i = 0; i < rows[0].size(); ++i) {
      const int rank = ragged_rank(input().spec()[i].shape);
      if (rank == 0) {
        internal::stack_field(rows, i, context, {}, out);
        continue;
      }
      append_values(rows, i, rank, context, out);
      for (int level = 0; level < rank; ++level) append_splits(rows, i, level, context, out);
    }
  }

 private:
  // The values of all rows; the ragged dimensions are one.
  void append_values(std::span<const Element> rows, size_t field, int rank, Context& context, Element& out) const {
    const Shape& row = input().spec()[field].shape;
    const Shape inner(row.dims().subspan(static_cast<size_t>(rank)));
    int64_t count = 0;
    for (const Element& one : rows) count += outer_size(one[field], rank);
    internal::join_values(rows, field, inner.stacked(count), context, {}, out);
  }
  void append_splits(std::span<const Element> rows, size_t field, int level, Context& context, Element& out) const {
    std::vector<int64_t> splits = {0};
    for (const Element& one : rows) {
      const int64_t count = outer_size(one[field], level);
      for (int64_t k = 0; k < count; ++k) splits.push_back(splits.back() + one[field].dim(level));
    }
    if (splits_ == DType::i32 && splits.back() > INT32_MAX) {
      refuse("ragged_batch", fmt::format("{} values of a batch: more than int32 row splits count", splits.back()));
    }
    std::byte* const to = context.allocate_output(out, {}, splits_, {static_cast<int64_t>(splits.size())});
    if (splits_ == DType::i64) {
      std::memcpy(to, splits.data(), splits.size() * sizeof(int64_t));
    } else {
      std::copy(splits.begin(), splits.end(), reinterpret_cast<int32_t*>(to));
    }
  }
  // The product of the first `rank` dimensions.
  static int64_t outer_size(const Tensor& tensor, int rank) {
    int64_t size = 1;
    for (int axis = 0; axis < rank; ++axis) size *= tensor.dim(axis);
    return size;
  }

  const DType splits_;
};

}  // namespace

Step ragged_batch(int64_t batch_size, RaggedBatchOptions options) {
  if (options.row_splits_dtype != DType::i64 && options.row_splits_dtype != DType::i32) {
    refuse("ragged_batch",
           fmt::format("row_splits_dtype={}: it must be int64 or int32", name(options.row_splits_dtype)));
  }
  return [batch_size, options](const Dataset& input) {
    return Dataset(std::make_shared<RaggedBatch>(input.node(), batch_size, options));
  };
}

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/stack_internal.h"
#include "headpond/dataset/check_internal.h"
#include "headpond/dataset/ops/regroup.h"
#include "headpond/tensor/padding.h"

namespace headpond {
namespace {

constexpr const char* kSparseBatch = "sparse_batch";

Spec sparse_spec(const Spec& rows, const Shape& row_shape) {
  if (rows.size() != 1) refuse(kSparseBatch, fmt::format("takes one field, not {}", to_string(rows)));
  const FieldSpec& field = rows[0];
  if (field.shape.rank() != row_shape.rank()) {
    refuse(kSparseBatch, fmt::format("row_shape {} is not of the rank of {}", row_shape.to_string(), to_string(rows)));
  }
  const int64_t rank = row_shape.rank() + 1;
  const std::string prefix = field.name.empty() ? "" : field.name + ".";
  return {{prefix + "indices", DType::i64, {kUnknown, rank}},
          {prefix + "values", field.dtype, {kUnknown}},
          {prefix + "shape", DType::i64, {rank}}};
}

// Writes the indices of each value of `row`, row-major, after the row's number. Returns where the next row's belong.
int64_t* put_indices(const Tensor& row, int64_t number, int64_t* to) {
  const Shape shape = row.shape();
  std::vector<int64_t> indices(static_cast<size_t>(shape.rank()));
  for (int64_t i = 0; i < row.size(); ++i) {
    *to++ = number;
    to = std::copy(indices.begin(), indices.end(), to);
    for (int axis = shape.rank() - 1; axis >= 0 && ++indices[static_cast<size_t>(axis)] == shape[axis]; --axis) {
      indices[static_cast<size_t>(axis)] = 0;
    }
  }
  return to;
}

class SparseBatch final : public Batching {
 public:
  SparseBatch(const Node::Ref& input, int64_t batch_size, const Shape& row_shape)
      : Batching(kSparseBatch, ", row_shape=" + row_shape.to_string(), input, input->spec(), batch_size, false,
                 sparse_spec(input->spec(), row_shape)),
        row_shape_(row_shape) {}

  Error check(const Element*, int64_t number, const Element& row) const override {
    if (Error error = internal::check_element(input().spec(), row)) return error;
    const Shape shape = row[size_t{0}].shape();
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (row_shape_[axis] == kUnknown || shape[axis] <= row_shape_[axis]) continue;
      return {ErrorKind::DataLoss, fmt::format("element {} of the batch has shape {}, larger than the row shape {}",
                                               number, shape.to_string(), row_shape_.to_string())};
    }
    return {};
  }

  void stack(std::span<const Element> rows, Context& context, OutputSlots, Element& out) const override {
    int64_t values = 0;
    for (const Element& row : rows) values += row[size_t{0}].size();
    const int64_t rank = row_shape_.rank() + 1;
    auto* to = reinterpret_cast<int64_t*>(context.allocate_output(out, {}, DType::i64, {values, rank}));
    for (size_t i = 0; i < rows.size(); ++i) to = put_indices(rows[i][size_t{0}], static_cast<int64_t>(i), to);
    internal::join_values(rows, 0, {values}, context, {}, out);
    const Shape all = common_shape(row_shape_, rows, 0).stacked(static_cast<int64_t>(rows.size()));
    std::memcpy(context.allocate_output(out, {}, DType::i64, {rank}), all.dims().data(), all.dims().size_bytes());
  }

 private:
  const Shape row_shape_;
};

}  // namespace

Step sparse_batch(int64_t batch_size, const Shape& row_shape) {
  return [batch_size, row_shape](const Dataset& input) {
    return Dataset(std::make_shared<SparseBatch>(input.node(), batch_size, row_shape));
  };
}

}  // namespace headpond

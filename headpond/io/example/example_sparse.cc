// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "headpond/io/example/example_read_internal.h"
#include "headpond/io/quoted_name_internal.h"

namespace headpond::internal {
namespace {

/// The positions of the values of a Sparse feature, a row for each value.
class SparseIndices {
 public:
  SparseIndices(const ExampleMessage& message, const PlannedFeature& planned, uint64_t values, WireFault& fault)
      : message_(message), planned_(planned), count_(values), rank_(planned.index_keys.size()), fault_(fault) {}

  Result<Tensor> read(const FoundValues& found) const {
    std::vector<Dimension> dimensions(rank_);
    for (size_t d = 0; d < rank_; ++d) HEADPOND_TRY(measure(d, found[planned_.index_keys[d]], dimensions[d]));
    Tensor indices = Tensor::empty(DType::i64, {static_cast<int64_t>(count_), static_cast<int64_t>(rank_)});
    const auto to = indices.mutable_as<int64_t>();
    std::vector<int64_t> numbers(count_);
    for (size_t d = 0; d < rank_; ++d) {
      const auto [list, size] = dimensions[d];
      fault_.key = planned_.asked.index_keys[d];
      if (count_ > 0 && !copy_numbers(list, size, reinterpret_cast<std::byte*>(numbers.data()), fault_)) {
        return fail(message_.error(fault_));
      }
      for (size_t i = 0; i < count_; ++i) {
        if (numbers[i] < 0 || numbers[i] >= planned_.asked.shape[static_cast<int>(d)])
          return fail(outside(d, i, numbers[i]));
        to[i * rank_ + d] = numbers[i];
      }
    }
    return indices;
  }

 private:
  struct Dimension {
    FeatureList list;
    ListSize size;
  };

  // Before memory is allocated for as many indices as there are values.
  Result<void> measure(size_t d, std::string_view value, Dimension& to) const {
    if (!measure_value(planned_.asked.index_keys[d], value, to.list, to.size, fault_))
      return fail(message_.error(fault_));
    const bool has_dtype = to.list.is_missing || to.list.dtype == DType::i64;
    if (has_dtype && to.size.count == count_) return {};
    return fail(wrong(d, fmt::format("{} indices of int64 expected, as many as there are values, {} of {} found",
                                     count_, to.size.count, name(to.list.is_missing ? DType::i64 : to.list.dtype))));
  }
  Error outside(size_t d, size_t i, int64_t index) const {
    return wrong(d, fmt::format("index {} of value {} is outside of {}", index, i, planned_.asked.shape.to_string()));
  }
  Error wrong(size_t d, const std::string& what) const {
    return {ErrorKind::InvalidArgument,
            fmt::format("{}, feature {}: {}, as positions of the Sparse feature {}", message_.type,
                        quoted_name(planned_.asked.index_keys[d]), what, quoted_name(planned_.asked.key))};
  }

  const ExampleMessage& message_;
  const PlannedFeature& planned_;
  const size_t count_, rank_;
  WireFault& fault_;
};

// The numbers of the rows of `indices` in row-major order; empty if they are in order.
std::vector<size_t> sorted_order(const Tensor& indices) {
  const auto rank = static_cast<size_t>(indices.dim(1));
  const auto numbers = indices.as<int64_t>();
  const auto is_less = [&](size_t a, size_t b) {
    const auto one = numbers.subspan(a * rank, rank), other = numbers.subspan(b * rank, rank);
    return std::lexicographical_compare(one.begin(), one.end(), other.begin(), other.end());
  };
  std::vector<size_t> order(static_cast<size_t>(indices.dim(0)));
  std::iota(order.begin(), order.end(), size_t{0});
  if (std::is_sorted(order.begin(), order.end(), is_less)) return {};
  std::stable_sort(order.begin(), order.end(), is_less);
  return order;
}

// The rows of `tensor` in this order.
Tensor in_order(const Tensor& tensor, const std::vector<size_t>& order) {
  if (tensor.dtype() == DType::bytes) {
    std::vector<std::string_view> values;
    values.reserve(order.size());
    for (const size_t i : order) values.push_back(tensor.bytes_at(static_cast<int64_t>(i)));
    return Tensor::from(values, tensor.shape());
  }
  Tensor sorted = Tensor::empty(tensor.dtype(), tensor.shape());
  const size_t row = tensor.byte_size() / order.size();
  for (size_t to = 0; to < order.size(); ++to) {
    std::memcpy(sorted.mutable_data() + to * row, tensor.data() + order[to] * row, row);
  }
  return sorted;
}

}  // namespace

Result<void> give_sparse(const ExampleMessage& message, const PlannedFeature& planned, const FoundValues& found,
                         const SparseValues& measured, const FieldTargets& targets, WireFault& fault) {
  const uint64_t count = measured.size.count;
  auto indices = SparseIndices(message, planned, count, fault).read(found);
  if (!indices) return fail(std::move(indices).error());
  fault.key = planned.asked.value_key.empty() ? planned.asked.key : planned.asked.value_key;
  auto values = tensor_of(message, measured.list, measured.size, Shape{static_cast<int64_t>(count)}, fault);
  if (!values) return fail(std::move(values).error());
  if (const auto order = planned.asked.already_sorted ? std::vector<size_t>() : sorted_order(*indices);
      !order.empty()) {
    *indices = in_order(*indices, order);
    *values = in_order(*values, order);
  }
  HEADPOND_TRY(targets.give(planned.field, std::move(*indices)));
  HEADPOND_TRY(targets.give(planned.field + 1, std::move(*values)));
  return give_int64(targets, planned.field + 2, planned.dense_shape);
}

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/ops/batch/row_costs_internal.h"

namespace headpond::internal {
namespace {

template <class T>
void append_as(const Tensor& numbers, std::vector<double>& costs) {
  for (const T value : numbers.as<T>()) costs.push_back(static_cast<double>(value));
}

bool is_cost(DType dtype) {
  return dtype != DType::bytes && dtype != DType::boolean && dtype != DType::f16 && dtype != DType::bf16;
}

// REQUIRES: is_cost(numbers.dtype()).
void append_costs(const Tensor& numbers, std::vector<double>& costs) {
  switch (numbers.dtype()) {
    case DType::u8:
      return append_as<uint8_t>(numbers, costs);
    case DType::i8:
      return append_as<int8_t>(numbers, costs);
    case DType::u16:
      return append_as<uint16_t>(numbers, costs);
    case DType::i16:
      return append_as<int16_t>(numbers, costs);
    case DType::u32:
      return append_as<uint32_t>(numbers, costs);
    case DType::i32:
      return append_as<int32_t>(numbers, costs);
    case DType::u64:
      return append_as<uint64_t>(numbers, costs);
    case DType::i64:
      return append_as<int64_t>(numbers, costs);
    case DType::f32:
      return append_as<float>(numbers, costs);
    default:
      return append_as<double>(numbers, costs);
  }
}

Result<std::vector<double>> costs_by(const Function& function, const Element& batch, int64_t rows) {
  std::vector<double> costs;
  for (int64_t r = 0; r < rows; ++r) {
    Element row, cost;
    for (size_t f = 0; f < batch.size(); ++f) row.append(batch[f].row(r));
    if (const Error error = function.call(row, cost)) {
      return fail(Error(error.kind(), fmt::format("row {}: {}", r, error.message()), error));
    }
    append_costs(cost[size_t{0}], costs);
  }
  return costs;
}

}  // namespace

RowCosts RowCosts::of_field(const std::string& op, const Spec& batches, const std::string& name) {
  RowCosts made;
  for (size_t i = 0; i < batches.size(); ++i) {
    if (name != (batches[i].name.empty() ? fmt::format("{}", i) : batches[i].name)) continue;
    if (batches[i].shape.rank() == 1 && is_cost(batches[i].dtype)) {
      made.from_ = i;
      return made;
    }
    refuse(op, fmt::format("the field '{}' of {} is no number for each row", name, to_string(batches)));
  }
  refuse(op, fmt::format("no field '{}' in {}", name, to_string(batches)));
}

RowCosts RowCosts::of_function(const std::string& op, const Spec& batches, Function function) {
  const Spec& result = function.result;
  if (!function.type_tells_all || result.size() != 1 || !is_cost(result[0].dtype)) {
    refuse(op, "the cost function must return a number");
  }
  Spec rows = batches;
  for (FieldSpec& field : rows) field.shape = field.shape.row();
  function.check(op, rows);
  RowCosts made;
  made.from_ = std::move(function);
  return made;
}

Result<std::vector<double>> RowCosts::of(const Element& batch, int64_t rows) const {
  std::vector<double> costs;
  if (field() != nullptr) {
    append_costs(batch[*field()], costs);
  } else {
    auto made = costs_by(std::get<Function>(from_), batch, rows);
    if (!made) return made;
    costs = std::move(*made);
  }
  const auto is_bad = [](double cost) { return !(cost >= 0 && std::isfinite(cost)); };
  if (const auto bad = std::find_if(costs.begin(), costs.end(), is_bad); bad != costs.end()) {
    return fail(ErrorKind::InvalidArgument, fmt::format("row {} costs {}", bad - costs.begin(), *bad));
  }
  return costs;
}

}  // namespace headpond::internal

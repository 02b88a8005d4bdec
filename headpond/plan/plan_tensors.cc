// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/plan_tensors.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace headpond::plan {
namespace {

template <class T>
Tensor integer_scalar(const PlanArguments& args, const std::string& argument, DType dtype) {
  if (const auto* const large = args.value(argument).as<uint64_t>(); large != nullptr && std::in_range<T>(*large))
    return Tensor::scalar(static_cast<T>(*large));
  const int64_t value = args.integer(argument);
  if (!std::in_range<T>(value)) args.refuse(argument, fmt::format("is {}, beyond {}", value, name(dtype)));
  return Tensor::scalar(static_cast<T>(value));
}

Tensor float_scalar(const PlanArguments& args, const std::string& argument) {
  const double value = args.number(argument);
  if (std::isfinite(value) && std::fabs(value) > std::numeric_limits<float>::max())
    args.refuse(argument, fmt::format("is {}, beyond float32", value));
  return Tensor::scalar(static_cast<float>(value));
}

}  // namespace

DType to_dtype(const PlanArguments& args, const std::string& argument) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(DType::bytes); ++i) names.emplace_back(name(static_cast<DType>(i)));
  args.value(argument);  // Else an error.
  return static_cast<DType>(args.choice(argument, names));
}

Shape to_shape(const PlanArguments& args, const std::string& argument, const PlanValue& value) {
  const auto* const list = value.as<PlanList>();
  if (list == nullptr) args.refuse(argument, fmt::format("must be a list of dimensions, not {}", kind_of(value)));
  std::vector<int64_t> dims;
  for (const PlanValue& dim : *list) {
    dims.push_back(args.to_integer(argument, dim));
    if (dims.back() < kUnknown) args.refuse(argument, fmt::format("has a dimension {}; -1 is unknown", dims.back()));
  }
  return Shape(dims);
}

Tensor to_scalar(const PlanArguments& args, const std::string& argument, DType dtype) {
  switch (dtype) {
    case DType::u8:
      return integer_scalar<uint8_t>(args, argument, dtype);
    case DType::i8:
      return integer_scalar<int8_t>(args, argument, dtype);
    case DType::u16:
      return integer_scalar<uint16_t>(args, argument, dtype);
    case DType::i16:
      return integer_scalar<int16_t>(args, argument, dtype);
    case DType::u32:
      return integer_scalar<uint32_t>(args, argument, dtype);
    case DType::i32:
      return integer_scalar<int32_t>(args, argument, dtype);
    case DType::u64:
      return integer_scalar<uint64_t>(args, argument, dtype);
    case DType::i64:
      return integer_scalar<int64_t>(args, argument, dtype);
    case DType::f32:
      return float_scalar(args, argument);
    case DType::f64:
      return Tensor::scalar(args.number(argument));
    case DType::boolean:
      return Tensor::scalar(args.flag(argument, false));
    case DType::bytes:
      return Tensor::scalar(std::string_view(args.text(argument)));
    case DType::f16:
    case DType::bf16:
      break;
  }
  args.refuse(argument, fmt::format("of {} cannot be given", name(dtype)));
}

PadWith to_padding(const PlanArguments& args, const std::string& argument, const PlanValue& value) {
  if (const auto* const text = value.as<std::string>()) return *text;
  if (const auto* const flag = value.as<bool>()) return *flag;
  if (const auto* const integer = value.as<int64_t>()) return *integer;
  if (const auto* const large = value.as<uint64_t>()) return *large;
  return args.to_number(argument, value);
}

Tensor filled(const Shape& shape, const Tensor& scalar) {
  const auto count = static_cast<size_t>(*shape.size());
  if (scalar.dtype() == DType::bytes)
    return Tensor::from(std::vector<std::string>(count, std::string(scalar.bytes_at(0))), shape);
  Tensor tensor = Tensor::empty(scalar.dtype(), shape);
  std::byte* to = tensor.mutable_data();
  for (size_t i = 0; i < count; ++i, to += scalar.byte_size()) std::memcpy(to, scalar.data(), scalar.byte_size());
  return tensor;
}

}  // namespace headpond::plan

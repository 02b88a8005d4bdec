// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/expression/expression.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace headpond::plan {
namespace {

constexpr size_t kFew = 16;

// Room for n values, on the thread's stack if they are few.
template <class T>
class Room {
 public:
  explicit Room(size_t n) : many_(n > kFew ? n : 0), n_(n) {}
  T* data() { return many_.empty() ? few_.data() : many_.data(); }
  std::span<T> all() { return {data(), n_}; }

 private:
  std::array<T, kFew> few_;
  std::vector<T> many_;
  size_t n_;
};

Error to_error(Outcome outcome, Value value) {
  if (outcome == Outcome::division_by_zero) return {ErrorKind::InvalidArgument, "division by zero"};
  return {ErrorKind::InvalidArgument, outcome == Outcome::thrown ? fmt::format("throw_at {}", value.integer)
                                                                 : fmt::format("throw_at {}", value.number)};
}

void load(const CompiledExpression& compiled, const Element& element, std::span<Source> to) {
  for (size_t i = 0; i < to.size(); ++i) {
    const Tensor& field = element[compiled.fields[i]];
    to[i] = {.data = field.data(), .dtype = field.dtype(), .one_for_all = field.rank() == 0};
  }
}

// The shape of the arrays in this element.
Result<Shape> common_shape(const CompiledExpression& compiled, const Element& element) {
  const Tensor* first = nullptr;
  for (const size_t index : compiled.fields) {
    const Tensor& field = element[index];
    if (field.rank() == 0) continue;
    if (first == nullptr) first = &field;
    if (field.has_shape(first->shape())) continue;
    return fail(ErrorKind::InvalidArgument, fmt::format("arrays of shapes {} and {} in one expression",
                                                        first->shape().to_string(), field.shape().to_string()));
  }
  return first == nullptr ? Shape() : first->shape();
}

template <class T>
bool put(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof(T));
  return true;
}

template <class T>
bool put_integer(Value value, std::byte* to) {
  if constexpr (std::is_same_v<T, bool>) {
    return put(value.integer != 0, to);
  } else if constexpr (std::is_floating_point_v<T>) {
    return put(static_cast<T>(value.integer), to);
  } else {
    return std::in_range<T>(value.integer) && put(static_cast<T>(value.integer), to);
  }
}

template <class T>
bool put_float(Value value, std::byte* to) {
  if constexpr (std::is_same_v<T, bool>) {
    return put(value.number != 0, to);
  } else if constexpr (std::is_floating_point_v<T>) {
    return put(static_cast<T>(value.number), to);
  } else {
    const double whole = std::trunc(value.number);
    const auto least = static_cast<double>(std::numeric_limits<T>::min());
    const bool fits = whole >= least && whole < std::ldexp(1.0, std::numeric_limits<T>::digits);
    return fits && put(static_cast<T>(whole), to);
  }
}

using Put = bool (*)(Value, std::byte*);

template <class T>
Put put_as(bool is_float) {
  return is_float ? put_float<T> : put_integer<T>;
}

Put put_as(DType to, bool is_float) {
  switch (to) {
    case DType::u8:
      return put_as<uint8_t>(is_float);
    case DType::i8:
      return put_as<int8_t>(is_float);
    case DType::u16:
      return put_as<uint16_t>(is_float);
    case DType::i16:
      return put_as<int16_t>(is_float);
    case DType::u32:
      return put_as<uint32_t>(is_float);
    case DType::i32:
      return put_as<int32_t>(is_float);
    case DType::u64:
      return put_as<uint64_t>(is_float);
    case DType::i64:
      return put_as<int64_t>(is_float);
    case DType::f32:
      return put_as<float>(is_float);
    case DType::f64:
      return put_as<double>(is_float);
    case DType::boolean:
      return put_as<bool>(is_float);
    case DType::f16:
    case DType::bf16:
    case DType::bytes:
      break;
  }
  throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("an expression cannot be converted to {}", name(to))));
}

Error does_not_fit(const CompiledExpression& compiled, Value value, DType to) {
  const std::string text = compiled.is_float ? fmt::format("{}", value.number) : fmt::format("{}", value.integer);
  return {ErrorKind::InvalidArgument, fmt::format("{} does not fit {}", text, name(to))};
}

}  // namespace

Expression::Expression(std::string_view text, const Spec& input, std::optional<DType> to)
    : compiled_(compile_expression(text, input)),
      dtype_(to.value_or(compiled_.is_float ? DType::f64 : DType::i64)),
      put_(to ? put_as(*to, compiled_.is_float) : nullptr) {}

Result<Value> Expression::scalar(const Element& element) const {
  Room<Source> sources(compiled_.fields.size());
  Room<Value> stack(compiled_.program.stack + 2);
  load(compiled_, element, sources.all());
  const Outcome outcome = run(compiled_.program, sources.all(), 0, stack.data());
  if (outcome != Outcome::done) return fail(to_error(outcome, *stack.data()));
  return *stack.data();
}

Result<int64_t> Expression::integer(const Element& element) const {
  return scalar(element).map([](Value value) { return value.integer; });
}

Result<double> Expression::number(const Element& element) const {
  return scalar(element).map([](Value value) { return value.number; });
}

Result<bool> Expression::truth(const Element& element) const {
  return scalar(element).map(
      [this](Value value) { return compiled_.is_float ? value.number != 0 : value.integer != 0; });
}

Result<Tensor> Expression::tensor(const Element& element) const {
  const auto shape = common_shape(compiled_, element);
  if (!shape) return fail(shape.error());
  Room<Source> sources(compiled_.fields.size());
  Room<Value> stack(compiled_.program.stack + 2);
  load(compiled_, element, sources.all());
  Tensor values = Tensor::empty(dtype(), *shape);
  std::byte* to = values.mutable_data();
  const size_t size = item_size(dtype());
  for (size_t row = 0; row < static_cast<size_t>(values.size()); ++row, to += size) {
    const Outcome outcome = run(compiled_.program, sources.all(), row, stack.data());
    if (outcome != Outcome::done) return fail(to_error(outcome, *stack.data()));
    if (!converts()) {
      std::memcpy(to, stack.data(), sizeof(Value));
    } else if (!put_(*stack.data(), to)) {
      return fail(does_not_fit(compiled_, *stack.data(), dtype()));
    }
  }
  return values;
}

}  // namespace headpond::plan

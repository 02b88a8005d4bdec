// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/expression/expression.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
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

}  // namespace

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
  for (size_t row = 0; row < static_cast<size_t>(values.size()); ++row, to += sizeof(Value)) {
    const Outcome outcome = run(compiled_.program, sources.all(), row, stack.data());
    if (outcome != Outcome::done) return fail(to_error(outcome, *stack.data()));
    std::memcpy(to, stack.data(), sizeof(Value));
  }
  return values;
}

}  // namespace headpond::plan

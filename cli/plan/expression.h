// SPDX-License-Identifier: Apache-2.0
// The expressions of pipeline files: "x % 3 != 0". docs/plan_files.md has the language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cli/plan/expression_parser.h"
#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond::cli {

/// An expression over the fields of a dataset, its types known. Immutable; any thread may ask it. Over arrays it gives
/// an array, value by value; the arrays must be of one shape, and a scalar goes with each value.
class Expression {
 public:
  /// Throws Exception(InvalidArgument), naming the column, for a text that is no expression over `input`. A field
  /// without a name is "x".
  Expression(std::string_view text, const Spec& input) : compiled_(compile_expression(text, input)) {}

  DType dtype() const { return compiled_.is_float ? DType::f64 : DType::i64; }
  const Shape& shape() const { return compiled_.shape; }
  bool is_scalar() const { return compiled_.shape.rank() == 0; }
  bool sleeps() const { return compiled_.sleeps; }
  /// Calls of random_u32(). So many scalars of u32 follow the fields of `input` in the elements that it is asked about.
  size_t draws() const { return compiled_.draws; }

  // Each is InvalidArgument for a division of integers by zero and for throw_at.

  /// Also InvalidArgument for arrays of different shapes.
  Result<Tensor> tensor(const Element& element) const;
  /// REQUIRES: is_scalar(), dtype() i64.
  Result<int64_t> integer(const Element& element) const;
  /// REQUIRES: is_scalar(), dtype() f64.
  Result<double> number(const Element& element) const;
  /// Whether the value is not 0. REQUIRES: is_scalar().
  Result<bool> truth(const Element& element) const;

 private:
  Result<Value> scalar(const Element& element) const;

  const CompiledExpression compiled_;
};

}  // namespace headpond::cli

// SPDX-License-Identifier: Apache-2.0
// The expressions of pipeline files: "x % 3 != 0". docs/plan_files.md has the language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/plan/expression/expression_parser.h"
#include "headpond/tensor/element.h"

namespace headpond::plan {

/// An expression over the fields of a dataset, with known types. Immutable and thread-safe. Over arrays it works value
/// by value and gives an array; the arrays must have one shape, and a scalar is combined with each value.
class Expression {
 public:
  /// Throws Exception(InvalidArgument), with the column, for a text that is not an expression over `input`. A field
  /// without a name is "x".
  Expression(std::string_view text, const Spec& input) : compiled_(compile_expression(text, input)) {}

  DType dtype() const { return compiled_.is_float ? DType::f64 : DType::i64; }
  const Shape& shape() const { return compiled_.shape; }
  bool is_scalar() const { return compiled_.shape.rank() == 0; }
  bool sleeps() const { return compiled_.sleeps; }
  /// Number of random_u32() calls. The elements to evaluate have as many u32 scalars after the fields of `input`.
  size_t draws() const { return compiled_.draws; }

  // Each returns InvalidArgument for a division of integers by zero and for throw_at.

  /// Returns InvalidArgument also for arrays of different shapes.
  Result<Tensor> tensor(const Element& element) const;
  /// REQUIRES: is_scalar(), dtype() i64.
  Result<int64_t> integer(const Element& element) const;
  /// REQUIRES: is_scalar(), dtype() f64.
  Result<double> number(const Element& element) const;
  /// True iff the value is not 0. REQUIRES: is_scalar().
  Result<bool> truth(const Element& element) const;

 private:
  Result<Value> scalar(const Element& element) const;

  const CompiledExpression compiled_;
};

}  // namespace headpond::plan

// SPDX-License-Identifier: Apache-2.0
// The expressions of pipeline files: "x % 3 != 0". docs/plan_files.md has the language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  /// Throws Exception(InvalidArgument), with the column, for a text that is not an expression over `input`, whose
  /// fields have their shown_name(). `to`: what tensor() converts the values to; throws also for f16, bf16 and bytes.
  Expression(std::string_view text, const Spec& input, std::optional<DType> to = {});

  /// The dtype of tensor().
  DType dtype() const { return dtype_; }
  bool converts() const { return put_ != nullptr; }
  const Shape& shape() const { return compiled_.shape; }
  bool is_scalar() const { return compiled_.shape.rank() == 0; }
  bool sleeps() const { return compiled_.sleeps; }
  /// Number of random_u32() calls. The elements to evaluate have as many u32 scalars after the fields of `input`.
  size_t draws() const { return compiled_.draws; }

  // Each returns InvalidArgument for a division of integers by zero and for throw_at.

  /// Returns InvalidArgument also for arrays of different shapes, and for a value that `to` cannot hold: an integer out
  /// of its range, infinite, or NaN. Floats lose their fraction where `to` is an integer; a boolean is whether it is
  /// not 0.
  Result<Tensor> tensor(const Element& element) const;
  /// REQUIRES: is_scalar(), dtype() i64, !converts().
  Result<int64_t> integer(const Element& element) const;
  /// REQUIRES: is_scalar(), dtype() f64, !converts().
  Result<double> number(const Element& element) const;
  /// True iff the value is not 0. REQUIRES: is_scalar().
  Result<bool> truth(const Element& element) const;

 private:
  Result<Value> scalar(const Element& element) const;

  using Put = bool (*)(Value, std::byte*);

  const CompiledExpression compiled_;
  const DType dtype_;
  const Put put_;  // Writes a value as dtype_, or returns false if that cannot hold it. Null: as it is.
};

}  // namespace headpond::plan

// SPDX-License-Identifier: Apache-2.0
// From the text of an expression to a program. Who reads pipeline files uses expression.h.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "cli/plan/expression_code.h"
#include "headpond/tensor/element.h"

namespace headpond::cli {

struct CompiledExpression {
  Program program;
  std::vector<size_t> fields;  ///< Of each source: its index in an element. Random words follow the fields of the spec.
  bool is_float = false;       ///< What it gives: float64, else int64.
  Shape shape;                 ///< Of the arrays in it; [] if there are none.
  bool sleeps = false;
  size_t draws = 0;  ///< Calls of random_u32().
};

/// Throws Exception(InvalidArgument): "'x +', column 4: a value is missing". Nesting is limited, so no text can use up
/// the stack.
CompiledExpression compile_expression(std::string_view text, const Spec& spec);

}  // namespace headpond::cli

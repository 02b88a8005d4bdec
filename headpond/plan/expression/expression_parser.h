// SPDX-License-Identifier: Apache-2.0
// From the text of an expression to a program. Internal to expression.h.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "headpond/plan/expression/expression_code.h"
#include "headpond/tensor/element.h"

namespace headpond::plan {

struct CompiledExpression {
  Program program;
  std::vector<size_t> fields;  ///< The index of each source in an element. Random numbers come after the spec's fields.
  bool is_float = false;       ///< The result is float64, else int64.
  Shape shape;                 ///< The shape of its arrays; [] without arrays.
  bool sleeps = false;
  size_t draws = 0;  ///< Number of random_u32() calls.
};

/// Throws Exception(InvalidArgument): "'x +', column 4: a value is missing". Nesting is limited, so no text can
/// overflow the stack.
CompiledExpression compile_expression(std::string_view text, const Spec& spec);

}  // namespace headpond::plan

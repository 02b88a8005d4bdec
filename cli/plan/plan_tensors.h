// SPDX-License-Identifier: Apache-2.0
// Dtypes, shapes and single values in pipeline files.
#pragma once

#include <string>

#include "cli/plan/plan_arguments.h"
#include "headpond/tensor/tensor.h"

namespace headpond::cli {

// All throw PlanError with the argument's line.

/// The dtype that `name` names as NumPy does: "uint8", "float32", "bytes".
DType to_dtype(const PlanArguments& args, const std::string& name);

/// `value`, a part of the argument `name`, is a list of dimensions, -1 for an unknown one.
Shape to_shape(const PlanArguments& args, const std::string& name, const PlanValue& value);

/// The one value of `name` as a scalar of `dtype`: a number, a string for bytes, true or false for bool. Refuses what
/// the dtype cannot hold, and float16 and bfloat16.
Tensor to_scalar(const PlanArguments& args, const std::string& name, DType dtype);

}  // namespace headpond::cli

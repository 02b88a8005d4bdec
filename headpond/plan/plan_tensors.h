// SPDX-License-Identifier: Apache-2.0
// Dtypes, shapes and single values in pipeline files.
#pragma once

#include <string>

#include "headpond/dataset/ops/batch.h"
#include "headpond/plan/plan_arguments.h"
#include "headpond/tensor/tensor.h"

namespace headpond::plan {

// Functions that take `args` throw PlanError with the argument's line.

/// The dtype by NumPy's name: "uint8", "float32"; or "bytes".
DType to_dtype(const PlanArguments& args, const std::string& name);

/// The shape from `value`, a list of dimensions in the argument `name`; -1 is an unknown dimension.
Shape to_shape(const PlanArguments& args, const std::string& name, const PlanValue& value);

/// The single value of `name` as a scalar of `dtype`: a number, a string for bytes, true or false for bool. Refuses
/// values that the dtype cannot hold, float16 and bfloat16.
Tensor to_scalar(const PlanArguments& args, const std::string& name, DType dtype);

/// The padding value from `value` in the argument `name`: a number, true or false, or a string.
PadWith to_padding(const PlanArguments& args, const std::string& name, const PlanValue& value);

/// A tensor of `shape`, each value as that of `scalar`. REQUIRES: a full shape.
Tensor filled(const Shape& shape, const Tensor& scalar);

}  // namespace headpond::plan

// SPDX-License-Identifier: Apache-2.0
// Numbers of other dtypes than int64, for range and counter.
#pragma once

#include <memory>
#include <string>

#include "headpond/dataset/view.h"

namespace headpond::internal {

/// Throws Exception(InvalidArgument), naming `op` and `option`, for bool and bytes, which have no numbers.
void check_number_dtype(const std::string& op, const std::string& option, DType dtype);

/// "" for int64, else ", output_type=float32": so that plans without the option stay what they were.
std::string dtype_args(const std::string& option, DType dtype);

/// The elements of `numbers`, an int64 scalar each, as `dtype`: of integers the low bits, as in TensorFlow; of floating
/// point the nearest number, of 16 bits the nearest to the nearest float32. The input itself for int64.
std::shared_ptr<const View> as_dtype(std::shared_ptr<const View> numbers, DType dtype);

}  // namespace headpond::internal

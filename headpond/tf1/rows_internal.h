// SPDX-License-Identifier: Apache-2.0
// What producers and batchers share: they gather rows, and refuse options.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "headpond/tensor/tensor.h"

namespace headpond::tf1::internal {

/// Throws Exception(InvalidArgument) with "<function>: <why>".
[[noreturn]] void refuse(const std::string& function, const std::string& why);

/// The rows `numbers` of `tensor`, stacked in that order. REQUIRES: rank > 0, 0 <= each number < dim(0).
Tensor gather_rows(const Tensor& tensor, std::span<const int64_t> numbers);

}  // namespace headpond::tf1::internal

// SPDX-License-Identifier: Apache-2.0
// A dataset of the rows of tensors that are in memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// What the plan says of a tensor, its values included: "uint8[3,28,28], crc32c 1c291ca3".
std::string facts_of(const Tensor& tensor);

/// `op` and `args` are those of explain and of the fingerprint; `source` is the one that errors name.
Dataset slices(std::string op, std::string args, const std::string& source,
               const std::vector<std::pair<std::string, Tensor>>& tensors);

}  // namespace headpond::internal

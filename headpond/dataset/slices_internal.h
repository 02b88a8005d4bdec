// SPDX-License-Identifier: Apache-2.0
// A dataset of the rows of tensors that are in memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// `op` and `args` are those of explain and of the fingerprint. A `source` that is not empty is registered for errors.
Dataset slices(std::string op, std::string args, const std::string& source,
               const std::vector<std::pair<std::string, Tensor>>& tensors);

}  // namespace headpond::internal

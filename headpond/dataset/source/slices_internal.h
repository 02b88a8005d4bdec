// SPDX-License-Identifier: Apache-2.0
// A dataset of the rows of tensors in memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// The description of a tensor in a plan, its values included: "uint8[3,28,28], crc32c 1c291ca3".
std::string facts_of(const Tensor& tensor);

/// `op`, `args` and `location`: as in Node::Facts. `source`: for errors.
Dataset slices(std::string op, std::string args, const std::string& source,
               const std::vector<std::pair<std::string, Tensor>>& tensors, std::string location = "");

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// Rows of arrays that lie in mapped files. Not for users.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// from_tensor_slices(). `places`: for each tensor where it lies in a file, or "". What has a place is not read here:
/// the plan has the place and the tensor's last bytes instead of a checksum of all of it.
Dataset slices_in_files(const std::vector<std::pair<std::string, Tensor>>& tensors,
                        const std::vector<std::string>& places);

}  // namespace headpond::internal

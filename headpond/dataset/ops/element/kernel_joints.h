// SPDX-License-Identifier: Apache-2.0
// What explain asks of an operator that runs kernels. Not for users.
#pragma once

#include <vector>

#include "headpond/tensor/kernel.h"

namespace headpond::internal {

/// A base of such operators.
class KernelJoints {
 public:
  virtual ~KernelJoints() = default;
  /// What became of each pair of neighbours, from the first kernel on.
  virtual const std::vector<KernelChain::Joint>& joints() const = 0;
};

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// The kernels of an operator, for explain and view. Not for users.
#pragma once

#include <utility>
#include <vector>

#include "headpond/tensor/kernel.h"

namespace headpond::internal {

/// A base of such operators.
class KernelJoints {
 public:
  virtual ~KernelJoints() = default;
  /// The result for each pair of neighbours, from the first kernel on.
  virtual const std::vector<KernelChain::Joint>& joints() const = 0;
  /// The kernels as the user wrote them.
  virtual const std::vector<KernelRef>& kernels() const = 0;
  /// The fields of the element that the kernels see, and what each is to them.
  virtual std::vector<std::pair<size_t, FieldRole>> role_fields() const = 0;
};

}  // namespace headpond::internal

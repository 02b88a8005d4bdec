// SPDX-License-Identifier: Apache-2.0
// Where a parser writes its fields: the caller's memory, or tensors.
#pragma once

#include <cstddef>
#include <span>

#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond::internal {

struct FieldTargets {
  std::span<std::byte* const> targets;
  std::span<Tensor> out;

  /// InvalidArgument unless each span is empty or has one entry for each field.
  Result<void> check(size_t fields) const;
  std::byte* target(size_t field) const { return targets.empty() ? nullptr : targets[field]; }
  /// InvalidArgument iff `out` is empty.
  Result<void> give(size_t field, Tensor tensor) const;
};

}  // namespace headpond::internal

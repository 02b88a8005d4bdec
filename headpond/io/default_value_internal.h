// SPDX-License-Identifier: Apache-2.0
// The default that a parser uses for a missing field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "headpond/io/field_targets_internal.h"

namespace headpond::internal {

/// Immutable, thread-safe. A scalar is expanded to the shape only when it is used.
class DefaultValue {
 public:
  /// The default is `given` or, iff that is a scalar and `shape` is full, `shape` with this value everywhere.
  DefaultValue(const Tensor& given, const Shape& shape);

  /// Writes to `target` if that is not null, else passes on a tensor, which is made once and shared. REQUIRES of a
  /// target: a dtype other than bytes, and memory for `shape`. As FieldTargets::give(); ResourceExhausted iff there is
  /// no memory for a tensor.
  Result<void> give(size_t field, std::byte* target, const FieldTargets& targets) const;
  /// The checksum of the constructor's `given`.
  uint32_t checksum() const;

 private:
  bool is_repeated() const { return given_.rank() == 0 && shape_ != Shape(); }

  const Tensor given_;
  const Shape shape_;
  mutable std::once_flag once_;
  mutable Tensor whole_;
};

}  // namespace headpond::internal

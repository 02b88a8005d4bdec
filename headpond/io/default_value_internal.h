// SPDX-License-Identifier: Apache-2.0
// What a parser gives for a field that is not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "headpond/io/field_targets_internal.h"

namespace headpond::internal {

/// Immutable, thread-safe. A scalar stays one until it is given, whatever the shape.
class DefaultValue {
 public:
  /// `given` as it is or, iff it is a scalar and `shape` is full, `shape` with this value everywhere.
  DefaultValue(const Tensor& given, const Shape& shape);

  /// To `place`, if that is not null, else as a tensor, which is made once and shared. REQUIRES of a place: a dtype
  /// other than bytes, and room for `shape`. As FieldTargets::give(); ResourceExhausted iff there is no memory for a
  /// tensor.
  Result<void> give(size_t field, std::byte* place, const FieldTargets& targets) const;
  /// Of what was given.
  uint32_t checksum() const;

 private:
  bool is_repeated() const { return given_.rank() == 0 && shape_ != Shape(); }

  const Tensor given_;
  const Shape shape_;
  mutable std::once_flag once_;
  mutable Tensor whole_;
};

}  // namespace headpond::internal

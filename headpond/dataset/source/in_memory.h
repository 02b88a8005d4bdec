// SPDX-License-Identifier: Apache-2.0
// Which nodes have all their elements in memory. Not for users.
#pragma once

#include <cstdint>

namespace headpond::internal {

/// A second base of a Node that has its elements in memory.
class InMemory {
 public:
  virtual ~InMemory() = default;
  virtual int64_t bytes_in_memory() const = 0;
  /// Bytes of an element that are copies of that memory: small values, and texts. The others are views.
  virtual int64_t copied_bytes() const = 0;
};

}  // namespace headpond::internal

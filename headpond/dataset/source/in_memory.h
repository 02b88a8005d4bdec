// SPDX-License-Identifier: Apache-2.0
// Which nodes have all their elements in memory. Not for users.
#pragma once

#include <cstdint>

#include "headpond/dataset/node.h"

namespace headpond::internal {

/// A second base of a Node that has its elements in memory.
class InMemory {
 public:
  virtual ~InMemory() = default;
  virtual int64_t bytes_in_memory() const = 0;
  /// Bytes of an element that are copies of that memory: small values, and texts. The others are views.
  virtual int64_t copied_bytes() const = 0;
};

/// The source whose elements those of `node` are, as they are; null: there is none. What a store keeps may be
/// elsewhere.
inline const InMemory* viewed(const Node& node) {
  if (const auto* const source = dynamic_cast<const InMemory*>(&node)) return source;
  const Role role = node.facts().role;
  const bool passes_on = role == Role::order || role == Role::choice || role == Role::hint || role == Role::repeat;
  return passes_on && node.facts().inputs.size() == 1 ? viewed(node.input()) : nullptr;
}

}  // namespace headpond::internal

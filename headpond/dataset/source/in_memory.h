// SPDX-License-Identifier: Apache-2.0
// Which sources have their elements in memory. Not for users.
#pragma once

#include <cstdint>

namespace headpond {

/// What a Node is too if its elements are views of memory that it has.
class InMemory {
 public:
  virtual ~InMemory() = default;
  virtual int64_t bytes_in_memory() const = 0;
};

}  // namespace headpond

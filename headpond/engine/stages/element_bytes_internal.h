// SPDX-License-Identifier: Apache-2.0
// What elements take of the memory budget.
#pragma once

#include <cstdint>

#include "headpond/tensor/element.h"

namespace headpond::internal {

/// Bytes of the values; those that live inside the element itself do not count.
inline int64_t bytes_of(const Element& element) {
  int64_t bytes = 0;
  for (size_t i = 0; i < element.size(); ++i) {
    if (element[i].owner() != nullptr) bytes += static_cast<int64_t>(element[i].byte_size());
  }
  return bytes;
}

}  // namespace headpond::internal

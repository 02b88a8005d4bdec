// SPDX-License-Identifier: Apache-2.0
// MakesTogether: an operator that makes several elements in less time than one after the other. Not for users.
#pragma once

#include <cstdint>

namespace headpond::internal {

/// A node. Its View::fill() takes less time for so many neighbours: a task that makes some of them makes a multiple of
/// it, if it can.
class MakesTogether {
 public:
  virtual ~MakesTogether() = default;
  virtual int64_t together() const = 0;  ///< 1: it doesn't matter.
};

}  // namespace headpond::internal

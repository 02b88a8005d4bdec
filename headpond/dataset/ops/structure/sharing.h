// SPDX-License-Identifier: Apache-2.0
// Operators that give each of several programs, the ranks of a training, its share of the elements. Not for users.
#pragma once

#include <cstdint>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/node.h"

namespace headpond::internal {

/// The node of such an operator.
class Sharing {
 public:
  virtual ~Sharing() = default;
  /// FailedPrecondition iff it is known that there are elements, but none for this program. May open files, and throw.
  virtual Error shortage() const = 0;
};

/// The first shortage of what `node` has all its elements from: of operators with one input, and of all inputs of zip,
/// from `node` on. May open files, and throw.
Error shortage_below(const Node& node);

/// Like shard(), for the workers of one program: a worker that gets no element is no error.
Step part(int64_t num_parts, int64_t index);

}  // namespace headpond::internal

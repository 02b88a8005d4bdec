// SPDX-License-Identifier: Apache-2.0
// Which of several datasets gives element i, and which of its elements, in exact shares.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "headpond/dataset/ops/mixing.h"

namespace headpond::internal {

/// Immutable. Positions are below 2^63.
class Shares {
 public:
  /// REQUIRES: phases in order, the first from 0, with weights that were checked.
  explicit Shares(const std::vector<MixPhase>& schedule);

  /// Where element i is: the dataset, and the position there.
  std::pair<size_t, int64_t> at(int64_t i) const;
  /// How many of the first `end` elements each dataset gives.
  std::vector<int64_t> counts(int64_t end) const;
  /// The most elements for which no dataset gives more than its `slots`; kEndless: there is no end.
  int64_t most(const std::vector<int64_t>& slots) const;

 private:
  struct Phase {
    int64_t from;
    std::vector<uint64_t> weights;  // Their sum is at most 2^31.
    std::vector<uint64_t> sums;     // Each is the sum of a weight and those after it.
    std::vector<int64_t> before;    // What each dataset gave in earlier phases.
  };
  const Phase& phase_of(int64_t i) const;

  std::vector<Phase> phases_;
};

/// A node whose element i comes from the input and the position that at(i) says.
class InShares {
 public:
  virtual const Shares& shares() const = 0;

 protected:
  ~InShares() = default;
};

}  // namespace headpond::internal

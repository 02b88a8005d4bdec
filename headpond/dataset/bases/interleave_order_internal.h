// SPDX-License-Identifier: Apache-2.0
// Which dataset gives element i of an interleave, computed from the lengths of the datasets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headpond::internal {

/// Time passes in rounds, in each of which every slot of the cycle has a turn. Dataset k begins in round first_k in one
/// slot and stays there for length / block + 1 rounds, the last of which gives its remaining elements, perhaps none.
/// Between two rounds in which a dataset begins or ends, all rounds are alike: those are stored, not elements.
/// Immutable.
class InterleaveOrder {
 public:
  struct Pick {
    size_t dataset;
    int64_t offset;
  };
  /// A length may be kEndless. REQUIRES: cycle >= 1, block >= 1.
  InterleaveOrder(std::vector<int64_t> lengths, int64_t cycle, int64_t block);

  /// The sum of the lengths, or kEndless.
  int64_t size() const { return size_; }
  /// REQUIRES: 0 <= i < size().
  Pick at(int64_t i) const;

 private:
  struct Turns {
    int64_t first;  // Round.
    size_t dataset;
  };
  struct Rounds {
    int64_t first;
    int64_t position;  // Position of the first element.
    int64_t elements;  // In each round.
    bool any_ends;     // A dataset ends in it: not all give a whole block.
  };
  int64_t end_of(const Turns& turns) const;  // The round after the last one.
  void assign(int64_t cycle);
  void sum_up();
  const Turns* turns_in(size_t slot, int64_t round) const;

  const std::vector<int64_t> lengths_;
  const int64_t block_;
  int64_t size_ = 0;
  std::vector<std::vector<Turns>> slots_;  // Each in order.
  int64_t all_until_ = 0;                  // Before this round no slot is empty.
  std::vector<Rounds> rounds_;
};

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// Which sequences come together in one packed row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headpond/dataset/ops/regroup.h"
#include "headpond/tensor/element.h"

namespace headpond::internal {

/// The bins of bounded-space bin packing (Csirik and Johnson, "Bounded Space On-Line Bin Packing: Best is Better than
/// First", Algorithmica 31, 2001): at most `most` are open, and each sequence goes into one of them.
///
/// Sequences that were put again, in the same order and after others were taken with their bins, lie together as
/// before: a bin holds all its sequences or none, so a sequence finds the same bins but those that are gone, none of
/// which it was put into.
class PackBins {
 public:
  struct Bin {
    std::vector<Element> sequences;
    std::vector<int64_t> tickets;
    std::vector<int64_t> left;  // By field.
  };
  /// `lengths`: room of a bin, by field. max_sequences: of a bin; 0: any number.
  PackBins(std::vector<int64_t> lengths, PackFit fit, int64_t most, int64_t max_sequences)
      : lengths_(std::move(lengths)), fit_(fit), most_(most), max_sequences_(max_sequences) {}

  /// True iff put() has a bin for a sequence of these lengths. REQUIRES: it fits an empty bin.
  bool has_room(std::span<const int64_t> lengths) const;
  /// REQUIRES: has_room().
  void put(Element sequence, int64_t ticket, std::span<const int64_t> lengths);
  /// True iff a bin takes no other sequence.
  bool has_full() const { return full_ < bins_.size(); }
  bool empty() const { return bins_.empty(); }
  int64_t sequences() const { return sequences_; }
  /// Removes the full bin; else, of first_fit, the oldest one, of best_fit the one with the least room. REQUIRES: not
  /// empty.
  Bin take();
  /// Removes the full bin, else the oldest. REQUIRES: not empty.
  Bin take_oldest();

 private:
  size_t bin_for(std::span<const int64_t> lengths) const;
  Bin remove(size_t i);

  const std::vector<int64_t> lengths_;
  const PackFit fit_;
  const int64_t most_, max_sequences_;
  std::vector<Bin> bins_;  // The oldest first.
  size_t full_ = SIZE_MAX;
  int64_t sequences_ = 0;
};

}  // namespace headpond::internal

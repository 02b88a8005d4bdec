// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>

#include "headpond/dataset/ops/regroup/pack_bins_internal.h"

namespace headpond::internal {
namespace {

int64_t room(const PackBins::Bin& bin) { return std::accumulate(bin.left.begin(), bin.left.end(), int64_t{0}); }

bool fits(const PackBins::Bin& bin, std::span<const int64_t> lengths) {
  return std::equal(lengths.begin(), lengths.end(), bin.left.begin(), [](int64_t a, int64_t b) { return a <= b; });
}

}  // namespace

// The number of bins if it fits none.
size_t PackBins::bin_for(std::span<const int64_t> lengths) const {
  size_t best = bins_.size();
  for (size_t i = 0; i < bins_.size(); ++i) {
    if (!fits(bins_[i], lengths)) continue;
    if (fit_ == PackFit::first_fit) return i;
    if (best == bins_.size() || room(bins_[i]) < room(bins_[best])) best = i;
  }
  return best;
}

bool PackBins::has_room(std::span<const int64_t> lengths) const {
  return std::cmp_less(bins_.size(), most_) || bin_for(lengths) < bins_.size();
}

void PackBins::put(Element sequence, int64_t ticket, std::span<const int64_t> lengths) {
  const size_t i = bin_for(lengths);
  if (i == bins_.size()) bins_.push_back({.sequences = {}, .tickets = {}, .left = lengths_});
  Bin& bin = bins_[i];
  for (size_t field = 0; field < lengths.size(); ++field) bin.left[field] -= lengths[field];
  bin.sequences.push_back(std::move(sequence));
  bin.tickets.push_back(ticket);
  ++sequences_;
  if (room(bin) == 0 || std::cmp_equal(bin.sequences.size(), max_sequences_)) full_ = i;
}

PackBins::Bin PackBins::remove(size_t i) {
  Bin bin = std::move(bins_[i]);
  bins_.erase(bins_.begin() + static_cast<std::ptrdiff_t>(i));
  full_ = SIZE_MAX;
  sequences_ -= static_cast<int64_t>(bin.sequences.size());
  return bin;
}

PackBins::Bin PackBins::take() {
  if (has_full() || fit_ == PackFit::first_fit) return take_oldest();
  const auto least =
      std::min_element(bins_.begin(), bins_.end(), [](const Bin& a, const Bin& b) { return room(a) < room(b); });
  return remove(static_cast<size_t>(least - bins_.begin()));
}

PackBins::Bin PackBins::take_oldest() { return remove(has_full() ? full_ : 0); }

}  // namespace headpond::internal

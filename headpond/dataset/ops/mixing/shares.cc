// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "headpond/dataset/ops/mixing/shares_internal.h"

namespace headpond::internal {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr double kMostSum = 0x1p31;
constexpr double kScale = 0x1p30;

// Integers as they are; others as multiples of 2^-30 of their sum, at least one of it if they are above 0.
std::vector<uint64_t> to_integers(const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const bool exact = sum <= kMostSum && std::all_of(weights.begin(), weights.end(),
                                                    [](double weight) { return weight == std::floor(weight); });
  std::vector<uint64_t> all;
  for (const double weight : weights) {
    const double scaled = exact ? weight : std::floor(weight / sum * kScale + 0.5);
    all.push_back(weight > 0 ? std::max(static_cast<uint64_t>(scaled), uint64_t{1}) : 0);
  }
  return all;
}

// floor(i * weight / sum + 1/2): what a dataset gives of i elements.
int64_t share(int64_t i, uint64_t weight, uint64_t sum) {
  if (weight == sum) return i;
  const auto count = static_cast<uint64_t>(i);
  if (count < uint64_t{1} << 31) return static_cast<int64_t>((2 * count * weight + sum) / (2 * sum));
  return static_cast<int64_t>((Wide{2} * count * weight + sum) / (Wide{2} * sum));
}

}  // namespace

Shares::Shares(const std::vector<MixPhase>& schedule) {
  for (const MixPhase& given : schedule) {
    Phase phase{given.from, to_integers(given.weights), {}, counts(given.from)};
    phase.before.resize(phase.weights.size());
    phase.sums.resize(phase.weights.size());
    std::partial_sum(phase.weights.rbegin(), phase.weights.rend(), phase.sums.rbegin());
    phases_.push_back(std::move(phase));
  }
}

const Shares::Phase& Shares::phase_of(int64_t i) const {
  const auto after = std::upper_bound(phases_.begin(), phases_.end(), i,
                                      [](int64_t position, const Phase& phase) { return position < phase.from; });
  return after[-1];
}

std::pair<size_t, int64_t> Shares::at(int64_t i) const {
  const Phase& phase = phase_of(i);
  int64_t left = i - phase.from;
  for (size_t n = 0;; ++n) {
    if (phase.weights[n] == 0) continue;
    const int64_t given = share(left, phase.weights[n], phase.sums[n]);
    if (phase.weights[n] == phase.sums[n] || share(left + 1, phase.weights[n], phase.sums[n]) > given) {
      return {n, phase.before[n] + given};
    }
    left -= given;
  }
}

std::vector<int64_t> Shares::counts(int64_t end) const {
  if (phases_.empty()) return {};
  const Phase& phase = phase_of(end);
  std::vector<int64_t> all = phase.before;
  int64_t left = end - phase.from;
  for (size_t n = 0; n < all.size(); ++n) {
    const int64_t given = phase.weights[n] == 0 ? 0 : share(left, phase.weights[n], phase.sums[n]);
    all[n] += given;
    left -= given;
  }
  return all;
}

int64_t Shares::most(const std::vector<int64_t>& slots) const {
  const auto fits = [&](int64_t end) {
    const std::vector<int64_t> all = counts(end);
    return std::equal(all.begin(), all.end(), slots.begin(), [](int64_t given, int64_t has) { return given <= has; });
  };
  if (fits(kEndless)) return kEndless;
  int64_t low = 0, high = kEndless;  // Fits; does not.
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>

#include "headpond/dataset/ops/mixing/weighted_draws_internal.h"

namespace headpond::internal {
namespace {

double uniform(Random& random) { return static_cast<double>(random.u64() >> 11) * 0x1p-53; }

}  // namespace

// Vose's method: a column with too little takes from one with too much.
AliasTable::AliasTable(const std::vector<double>& weights) {
  const double mean = std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
  std::vector<double> parts;
  std::vector<size_t> small, large;
  for (size_t i = 0; i < weights.size(); ++i) {
    parts.push_back(weights[i] / mean);
    columns_.push_back({1, static_cast<int64_t>(i)});
    (parts[i] < 1 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const size_t less = small.back(), more = large.back();
    small.pop_back();
    columns_[less] = {parts[less], static_cast<int64_t>(more)};
    parts[more] -= 1 - parts[less];
    if (parts[more] >= 1) continue;
    large.pop_back();
    small.push_back(more);
  }
  // Rounding may leave small ones: they are whole, unless their weight is 0.
  const auto heaviest = std::max_element(weights.begin(), weights.end()) - weights.begin();
  for (const size_t i : small) {
    if (weights[i] == 0) columns_[i] = {0, heaviest};
  }
}

int64_t AliasTable::draw(RandomKey key, uint64_t number) const {
  Random random(key, number);
  const uint64_t index = random.below(columns_.size());
  const Column& column = columns_[index];
  return uniform(random) < column.own ? static_cast<int64_t>(index) : column.other;
}

double exponential(Random& random) {
  for (double whole = 0;; ++whole) {
    const double first = uniform(random);
    double last = first;
    bool odd = true;  // The number of falling variates so far.
    for (double next = uniform(random); next <= last; next = uniform(random)) {
      last = next;
      odd = !odd;
    }
    if (odd) return whole + first;
  }
}

std::vector<int64_t> draw_without_replacement(const std::vector<double>& weights, RandomKey key, size_t count) {
  std::vector<std::pair<double, int64_t>> keys;
  keys.reserve(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    Random random(key, i);
    keys.emplace_back(exponential(random) / weights[i], static_cast<int64_t>(i));
  }
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(keys.begin(), end, keys.end());
  std::vector<int64_t> drawn(count);
  std::transform(keys.begin(), end, drawn.begin(), [](const auto& one) { return one.second; });
  return drawn;
}

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "headpond/dataset/ops/batch/share_rows_internal.h"

namespace headpond::internal {

std::vector<int64_t> share_by_cost(std::span<const double> costs, int64_t world, int64_t rank) {
  const size_t most = costs.size() / static_cast<size_t>(world);
  std::vector<int64_t> order(costs.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto cost = [&](int64_t place) { return costs[static_cast<size_t>(place)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return cost(a) > cost(b); });

  using Load = std::pair<double, int64_t>;  // The cost of a rank so far, and the rank.
  std::priority_queue<Load, std::vector<Load>, std::greater<>> free;
  for (int64_t i = 0; i < world; ++i) free.emplace(0, i);
  std::vector<size_t> counts(static_cast<size_t>(world));
  std::vector<int64_t> own;
  for (const int64_t place : order) {
    const auto [load, least] = free.top();
    free.pop();
    if (least == rank) own.push_back(place);
    if (++counts[static_cast<size_t>(least)] < most) free.emplace(load + cost(place), least);
  }
  std::sort(own.begin(), own.end());
  return own;
}

}  // namespace headpond::internal

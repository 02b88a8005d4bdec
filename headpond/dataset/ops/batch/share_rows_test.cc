// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "headpond/base/random.h"
#include "headpond/dataset/ops/batch/share_rows_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Costs = std::vector<double>;

TEST(ShareRows, GivesTheCostliestFirst) {
  const Costs costs = {1, 9, 2, 8, 3, 7};  // 9, 3, 2 and 8, 7, 1.
  EXPECT_THAT(share_by_cost(costs, 2, 0), ElementsAre(1, 2, 4));
  EXPECT_THAT(share_by_cost(costs, 2, 1), ElementsAre(0, 3, 5));
  EXPECT_THAT(share_by_cost(Costs{9, 1, 1, 1}, 2, 1), ElementsAre(1, 2)) << "no rank has more rows than others";
  EXPECT_THAT(share_by_cost(costs, 1, 0), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(share_by_cost({}, 3, 1), IsEmpty());
}

TEST(ShareRows, AmongEqualsTheFirstRowGoesToTheLowestRank) {
  const Costs equal(6, 2.5);
  EXPECT_THAT(share_by_cost(equal, 3, 0), ElementsAre(0, 3));
  EXPECT_THAT(share_by_cost(equal, 3, 1), ElementsAre(1, 4));
  EXPECT_THAT(share_by_cost(equal, 3, 2), ElementsAre(2, 5));
  EXPECT_THAT(share_by_cost(Costs(4, 0), 2, 1), ElementsAre(2, 3)) << "the cost is 0 throughout";
}

// Lengths as of sentences: most are short.
TEST(ShareRows, RanksEndTogether) {
  Random random(RandomKey{5}, 0);
  double sum_by_cost = 0, sum_in_order = 0;
  for (int round = 0; round < 50; ++round) {
    constexpr int64_t kWorld = 8, kRows = 32;
    Costs costs(kWorld * kRows);
    for (double& cost : costs) {
      const double drawn = random.uniform();
      cost = 1 + static_cast<double>(static_cast<int>(500 * drawn * drawn * drawn));
    }
    const double mean = std::accumulate(costs.begin(), costs.end(), 0.0) / kWorld;
    double longest = 0, in_order = 0;
    std::vector<int64_t> all;
    for (int64_t rank = 0; rank < kWorld; ++rank) {
      const auto own = share_by_cost(costs, kWorld, rank);
      ASSERT_EQ(own.size(), size_t{kRows});
      all.insert(all.end(), own.begin(), own.end());
      double load = 0;
      for (const int64_t place : own) load += costs[static_cast<size_t>(place)];
      longest = std::max(longest, load);
      const auto first = costs.begin() + rank * kRows;
      in_order = std::max(in_order, std::accumulate(first, first + kRows, 0.0));
    }
    std::sort(all.begin(), all.end());
    for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<int64_t>(i)) << "each row once";
    sum_by_cost += longest / mean;
    sum_in_order += in_order / mean;
  }
  EXPECT_LT(sum_by_cost / 50, 1.01);
  EXPECT_GT(sum_in_order / 50, 1.15) << "control";
}

}  // namespace
}  // namespace headpond::internal

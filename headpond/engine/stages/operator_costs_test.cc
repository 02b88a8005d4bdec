// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/engine/loader.h"
#include "headpond/engine/stages/operator_costs_internal.h"

namespace headpond::internal {
namespace {

int64_t dear(int64_t x) {
  volatile int64_t sink = 0;
  for (int i = 0; i < 200'000; ++i) sink = sink + i;
  return x;
}

std::vector<OperatorCost> sampled(const Dataset& dataset) {
  OperatorCosts costs(*dataset.node(), {});
  Context context;
  EXPECT_TRUE(costs.costs().empty());
  for (int64_t i = 0; i < 20; ++i) costs.sample(i, context);
  return costs.costs();
}

TEST(OperatorCosts, ChargeEachOperatorWithItsOwnWork) {
  const Dataset dataset = range(50) | map(&dear) | shuffle() | map([](int64_t x) { return x + 1; }) | take(5);
  bool is_dearest = false;  // Once of several times: the machine may be busy with something else.
  for (int attempt = 0; attempt < 20 && !is_dearest; ++attempt) {
    const auto costs = sampled(dataset);
    ASSERT_EQ(costs.size(), 5U);
    EXPECT_EQ(costs[0].op, "range");
    EXPECT_EQ(costs[1].op, "map");
    is_dearest = true;
    for (const size_t cheap : {size_t{0}, size_t{2}, size_t{3}, size_t{4}}) {
      is_dearest = is_dearest && costs[cheap].ns < costs[1].ns / 2;
    }
  }
  EXPECT_TRUE(is_dearest);
}

TEST(OperatorCosts, GoDownToWhereInputsMeet) {
  const auto costs = sampled(zip({range(9), range(9)}) | map([](int64_t x, int64_t y) { return x + y; }));
  ASSERT_EQ(costs.size(), 2U);
  EXPECT_EQ(costs[0].op, "zip");
}

TEST(OperatorCosts, AreInTheStatsOfALoader) {
  const Dataset dataset = range(4000) | map(&dear) | batch(20);
  Loader loader(dataset, {.threads = 2});
  std::set<std::string> seen;
  for (const Batch& batch : loader) {
    EXPECT_EQ(batch.size(), 1U);
    for (const StageStats& stage : loader.stats().stages) {
      for (const OperatorCost& cost : stage.operators) seen.insert(cost.op);
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{"range", "map"}));
}

}  // namespace
}  // namespace headpond::internal

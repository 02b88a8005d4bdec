// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/migrate/in_order.h"

#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(InOrder, GivesTheSameElementsAsPositions) {
  const Dataset a = range(5) | shuffle(), b = range(100, 108) | filter([](int64_t x) { return x % 3 != 0; });
  const std::vector<std::pair<Dataset, int64_t>> cases = {
      {concatenate({a, b}) | random_u32() | batch(3), 4},
      {mix({a, range(50, 60)}, {1, 2}) | random_u32() | random_u32({.field = "b"}) | take(6), 3},
      {zip({a, range(50, 60)}) | enumerate(3), 3},
      {a | skip(1) | repeat(3) | shard(2, 1), 2},
  };
  for (const auto& [dataset, step] : cases) {
    const auto in_order = run_in_order(dataset, {step});
    ASSERT_TRUE(in_order) << in_order.error();
    EXPECT_TRUE(in_order->node()->iterates());
    EXPECT_EQ(elements(*in_order, {.seed = 3, .epochs = 2}, true), elements(dataset, {.seed = 3, .epochs = 2}, true))
        << dataset.plan();
    check_contract(*in_order);
  }
}

TEST(InOrder, NumbersOperatorsFromTheSourcesOnAndEachOnce) {
  const Dataset a = range(5), both = concatenate({a, a | prefetch()}) | batch(2);
  EXPECT_THAT(steps_of(both, {a.node().get(), both.node().get()}), ElementsAre(0, 3));
  EXPECT_EQ(nodes_at(both, {2})->count(&both.node()->input()), 1U);
}

TEST(InOrder, RefusesWhatReadsPositionsAndWhatIsNotThere) {
  const Dataset dataset = range(5) | take(4) | shuffle();
  const auto shuffled = run_in_order(dataset, {1});
  ASSERT_FALSE(shuffled);
  EXPECT_THAT(shuffled.error().message(), HasSubstr("shuffle(window=all) cannot run in order"));
  EXPECT_EQ(run_in_order(dataset, {3}).error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(run_in_order(dataset, {})->node(), dataset.node());
}

TEST(InOrder, KnowsTheNodesOfThePlan) {
  const Dataset dataset = range(5) | take(4) | random_u32();
  const auto in_order = run_in_order(dataset, {1});
  ASSERT_TRUE(in_order);
  EXPECT_EQ(&plan_node(*in_order->node()), dataset.node().get());
  EXPECT_EQ(&plan_node(in_order->node()->input()), &dataset.node()->input());
  EXPECT_EQ(&plan_node(*dataset.node()), dataset.node().get());
}

}  // namespace
}  // namespace headpond::internal

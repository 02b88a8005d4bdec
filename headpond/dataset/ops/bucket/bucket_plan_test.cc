// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "headpond/dataset/ops.h"
#include "headpond/dataset/ops/bucket/bucket_plan_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(BucketPlan, BoundsAreQuantilesWithoutRepetitions) {
  EXPECT_THAT(quantile_bounds({5, 1, 4, 2, 3, 6}, 3), ElementsAre(3, 5));
  EXPECT_THAT(quantile_bounds({7, 7, 7, 7}, 4), IsEmpty());
  EXPECT_THAT(quantile_bounds({1, 9, 9, 9}, 4), ElementsAre(9));
  EXPECT_THAT(quantile_bounds({}, 4), IsEmpty());
  EXPECT_THAT(quantile_bounds({1, 2}, 1), IsEmpty());
}

TEST(BucketPlan, GivesABatchWhenTheNextDoesNotFitAndTheRestAtTheEnd) {
  BucketPlan plan;
  const std::vector<int64_t> lengths = {1, 6, 2, 5, 1, 6, 20, 2};
  plan_window(lengths, 100, std::vector<int64_t>{5}, {.max_padded = 12, .max_elements = 3}, plan);
  // Of long ones two fit; of short ones three may be together.
  EXPECT_THAT(plan.order, ElementsAre(101, 103, 100, 102, 104, 106, 107, 105));
  EXPECT_THAT(plan.counts, ElementsAre(2, 3, -1, 1, 1));
}

TEST(BucketPlan, HoldsElementsWithoutLengthUntilTheWindowEnds) {
  BucketPlan plan;
  plan_window(std::vector<int64_t>(5, 0), 0, {}, {.max_padded = 1}, plan);
  EXPECT_THAT(plan.counts, ElementsAre(5));
}

TEST(BucketPlan, OfBucketsWithSizesGivesFullOnesAtOnceAndTheOthersFromTheShortestOn) {
  const std::vector<int64_t> first = {1, 6, 2}, second = {7, 9, 1};
  const auto plan_of = [&](const BucketSizes& sizes) {
    BucketPlan plan;
    const auto chooser = choose_by_size(sizes);
    chooser->add(first, 0, plan);
    chooser->add(second, 3, plan);
    chooser->end(plan);
    return plan;
  };
  const BucketPlan all = plan_of({.bounds = {5, 8}, .sizes = {2, 2, 2}});
  EXPECT_THAT(all.order, ElementsAre(0, 2, 1, 3, 5, 4));
  EXPECT_THAT(all.counts, ElementsAre(2, 2, 1, 1));
  EXPECT_THAT(all.buckets, IsEmpty());
  const BucketPlan whole = plan_of({.bounds = {5, 8}, .sizes = {2, 2, 2}, .drop_remainder = true, .by_bucket = true});
  EXPECT_THAT(whole.order, ElementsAre(0, 2, 1, 3, 4, 5));  // Number 5 is not used.
  EXPECT_THAT(whole.counts, ElementsAre(2, 2, -1));
  EXPECT_THAT(whole.buckets, ElementsAre(0, 1, 2));
}

TEST(BucketPlanner, FindsTheLengthOfEachElementWhereverItWasMoved) {
  const std::vector<int64_t> numbers = {10, 11, 12, 13, 14, 15, 16, 17};
  const Dataset moved = range(8) | shuffle({.name = "first"}) | map([](int64_t x) { return x; }) | skip(1) | shuffle() |
                        prefetch(2) | take(6);
  const BucketPlanner planner(moved.node(), Lengths(numbers),
                              BucketLimits{.max_padded = 17, .buckets = 1, .window = 100});
  const Binding binding = {.seed = 5, .epoch = 3};
  const auto plan = planner.plan(binding);
  EXPECT_EQ(planner.plan(binding), plan);
  EXPECT_NE(planner.plan({.seed = 5, .epoch = 4}), plan);
  // Each length fits alone, so elements keep their order.
  EXPECT_THAT(plan->order, ElementsAre(0, 1, 2, 3, 4, 5));
  const BucketPlanner apart(moved.node(), Lengths(numbers),
                            BucketLimits{.max_padded = 100, .buckets = 2, .window = 100});
  const auto two = apart.plan(binding);
  Context context;
  const auto view = view_of(*moved.node(), binding);
  for (int64_t batch = 0, at = 0; batch < std::ssize(two->counts); ++batch) {
    for (int32_t i = 0; i < two->counts[static_cast<size_t>(batch)]; ++i, ++at) {
      Element element;
      ASSERT_EQ(view->at(two->order[static_cast<size_t>(at)], context, {}, element), Got::value);
      EXPECT_EQ(element[size_t{0}].item<int64_t>() >= 4, batch == 1) << at;
    }
  }
}

}  // namespace
}  // namespace headpond::internal

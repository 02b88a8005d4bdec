// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/bucket/planned_batches_internal.h"
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two elements a batch; those of length 3 or more are padded to 4, or are too long.
Dataset planned(const Dataset& input, const std::vector<int64_t>& lengths, bool by_bucket) {
  const RowStack stack = RowStack::padded("op", input.spec(), {}, {});
  std::vector<RowStack> stacks = {stack};
  if (by_bucket) stacks = {stack.padded_to(2), stack.padded_to(4)};
  const BucketSizes sizes = {.bounds = {3, 5}, .sizes = {2, 2, 2}, .by_bucket = by_bucket};
  return planned_batches("op", "args", input,
                         {.planner = std::make_shared<const BucketPlanner>(input.node(), Lengths(lengths), sizes),
                          .by_bucket = stacks,
                          .too_long = "too long"});
}

TEST(PlannedBatches, AreStackedAsTheirBucketsAre) {
  const std::vector<int64_t> lengths = {1, 3, 1, 3};
  EXPECT_THAT(elements(planned(sequences(lengths), lengths, false)),
              ElementsAre("[2,1][1 21]", "[2,3][11 12 13 31 32 33]"));
  EXPECT_THAT(elements(planned(sequences(lengths), lengths, true)),
              ElementsAre("[2,2][1 0 21 0]", "[2,4][11 12 13 0 31 32 33 0]"));
  check_contract(planned(sequences(lengths), lengths, true));
}

TEST(PlannedBatches, TellWhichElementIsTooLong) {
  const std::vector<int64_t> lengths = {1, 6, 1};
  const Dataset dataset = planned(sequences(lengths), lengths, true);
  EXPECT_THAT(elements(dataset),
              ElementsAre(HasSubstr("op(args, 0=[2] pad 0), range, record 1: too long"), "[2,2][1 0 21 0]"));
  check_errors_come_once(dataset);
}

}  // namespace
}  // namespace headpond::internal

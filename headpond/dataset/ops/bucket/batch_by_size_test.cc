// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(BatchBySize, CountsWhatAPaddedBatchTakes) {
  for (const Dataset& input : each_kind(sequences({2, 1, 3, 1, 1, 6, 0, 2}))) {
    const Dataset dataset = input | batch_by_size(6, "");
    EXPECT_THAT(elements(dataset), ElementsAre("[2,2][1 2 11 0]", "[2,3][21 22 23 31 0 0]", "[1,1][41]",
                                               "[1,6][51 52 53 54 55 56]", "[2,2][0 0 71 72]"));
    check_contract(dataset);
  }
}

TEST(BatchBySize, CountsTheSumOfSizes) {
  const auto size = [](int64_t x) { return x; };
  const Dataset dataset = range(7) | batch_by_size(6, size, {.sum_of_sizes = true, .name = "value"});
  EXPECT_THAT(elements(dataset), ElementsAre("[0 1 2 3]", "[4]", "[5]", "[6]"));
  check_contract(dataset);
  check_contract(range(7) | as_stream() | batch_by_size(6, size, {.sum_of_sizes = true, .drop_remainder = true}));
}

// No batch is larger than it may be, whatever the sizes; a rule that looked at the sum alone would let some be.
TEST(BatchBySize, NeverExceedsTheLimit) {
  std::vector<int64_t> lengths;
  Random random(7);
  for (int i = 0; i < 300; ++i) lengths.push_back(static_cast<int64_t>(random.below(20)));
  const auto largest = [&](const BatchBySizeOptions& options) {
    int64_t most = 0, rows = 0;
    Sequence sequence(sequences(lengths) | batch_by_size(64, "", options));
    while (auto batch = sequence.next()) {
      most = std::max(most, (*batch)[size_t{0}].size());
      rows += (*batch)[size_t{0}].dim(0);
    }
    EXPECT_EQ(rows, 300);
    return most;
  };
  EXPECT_LE(largest({}), 64);
  EXPECT_GT(largest({}), 50);
  EXPECT_LE(largest({.bucket_boundaries = {5, 10, 15}}), 64);
  EXPECT_GT(largest({.sum_of_sizes = true}), 64);
}

TEST(BatchBySize, TakesElementsOfOneBucketAndLimitsTheirNumber) {
  const Dataset dataset =
      sequences({1, 4, 1, 4, 1, 1, 4}) | batch_by_size(8, "", {.max_elements = 3, .bucket_boundaries = {3}});
  EXPECT_THAT(elements(dataset),
              ElementsAre("[2,4][11 12 13 14 31 32 33 34]", "[3,1][1 21 41]", "[1,1][51]", "[1,4][61 62 63 64]"));
  check_contract(dataset);
}

TEST(BatchBySize, RefusesALargerElement) {
  const Dataset dataset = sequences({2, 9, 1}) | batch_by_size(6, "");
  EXPECT_THAT(elements(dataset),
              ElementsAre(HasSubstr("range, record 1: a size of 9, where a batch has at most 6"), "[2,2][1 2 21 0]"));
  check_errors_come_once(dataset);
  EXPECT_THROW(range(3) | batch_by_size(0, [](int64_t x) { return x; }), Exception);
  EXPECT_THROW(range(3) | batch_by_size(3, [](int64_t x) { return x; }, {.max_elements = -1}), Exception);
  EXPECT_THROW(range(3) | batch_by_size(3, ""), Exception);
}

}  // namespace
}  // namespace headpond::internal

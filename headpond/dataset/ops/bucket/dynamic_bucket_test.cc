// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "headpond/dataset/ops/bucket.h"
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<int64_t> kClips = {1, 3, 0, 5, 2, 3, 1, 2, 4, 1, 5, 2};

std::string refusal_of_run(const Dataset& dataset) {
  try {
    Sequence sequence(dataset);
    const auto next = sequence.next();
    return next ? "" : next.error().message();
  } catch (const Exception& exception) {
    return exception.error().message();
  }
}

TEST(DynamicBucket, PadsElementsOfSimilarLength) {
  const Dataset dataset =
      sequences({1, 3, 1, 4}) | dynamic_bucket(Lengths({1, 3, 1, 4}), {.max_padded = 8, .buckets = 2});
  EXPECT_THAT(elements(dataset), ElementsAre("[2,4][11 12 13 0 31 32 33 34]", "[2,1][1 21]"));
}

TEST(DynamicBucket, KeepsTheContractAndNoBatchExceedsTheLimit) {
  for (const int64_t window : {1, 5, 100}) {
    const Dataset dataset = sequences(kClips) | shuffle() |
                            dynamic_bucket(Lengths(kClips), {.max_padded = 9, .buckets = 3, .window = window});
    check_contract(dataset);
    Sequence sequence(dataset);
    int64_t rows = 0;
    for (auto next = sequence.next(); next; next = sequence.next()) {
      EXPECT_LE((*next)[size_t{0}].size(), 9);
      rows += (*next)[size_t{0}].dim(0);
    }
    EXPECT_EQ(rows, std::ssize(kClips));
  }
}

TEST(DynamicBucket, ControlLengthsOfOtherElementsExceedTheLimit) {
  std::vector<int64_t> moved(kClips.rbegin(), kClips.rend());
  Sequence sequence(sequences(kClips) | dynamic_bucket(Lengths(moved), {.max_padded = 9, .buckets = 3}));
  int64_t largest = 0;
  for (auto next = sequence.next(); next; next = sequence.next()) {
    largest = std::max(largest, (*next)[size_t{0}].size());
  }
  EXPECT_GT(largest, 9);
}

TEST(DynamicBucket, LeavesOutElementsThatFailOrAreTooLong) {
  const std::vector<int64_t> ones(6, 1);
  const Dataset dataset =
      range(6) | failing_at({1, 5}) | dynamic_bucket(Lengths({1, 1, 1, 9, 1, 1}), {.max_padded = 3, .buckets = 1});
  EXPECT_THAT(elements(dataset), ElementsAre(HasSubstr("record 1"), "[0 2]", HasSubstr("longer than a batch may be"),
                                             HasSubstr("record 5"), "[4]"));
  check_errors_come_once(dataset);
}

TEST(DynamicBucket, TakesSecondsAndKeepsItsStateSmall) {
  const std::vector<int64_t> long_clips(2'000, 16'000);
  const Dataset dataset =
      range(2'000) | dynamic_bucket(Lengths(long_clips), {.max_padded_seconds = 4.5, .rate = 16'000});
  EXPECT_THAT(dataset.plan(), HasSubstr("max_padded=72000"));
  Sequence sequence(dataset);
  EXPECT_EQ((*sequence.next())[size_t{0}].dim(0), 4);
  EXPECT_LT(sequence.state().size(), 400U);
}

TEST(DynamicBucket, RefusesOtherInputsAndOptions) {
  const Lengths four({1, 1, 1, 1});
  EXPECT_THAT(refusal_of_run(range(5) | dynamic_bucket(four, {.max_padded = 2})), HasSubstr("4 lengths"));
  EXPECT_THROW(range(4) | as_stream() | dynamic_bucket(four, {.max_padded = 2}), Exception);
  EXPECT_THROW(range(4) | repeat() | dynamic_bucket(four, {.max_padded = 2}), Exception);
  for (const DynamicBucketOptions& bad : std::vector<DynamicBucketOptions>{{},
                                                                           {.max_padded = -1},
                                                                           {.max_padded = 1, .rate = 1},
                                                                           {.max_padded_seconds = 1},
                                                                           {.max_padded_seconds = 1e300, .rate = 9},
                                                                           {.max_padded = 1, .max_elements = -1},
                                                                           {.max_padded = 1, .buckets = 0},
                                                                           {.max_padded = 1, .window = 0}}) {
    EXPECT_THROW(dynamic_bucket(four, bad), Exception);
  }
}

}  // namespace
}  // namespace headpond::internal

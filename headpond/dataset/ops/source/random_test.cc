// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(RandomSource, GivesNumbersThatFollowFromSeedNameAndPosition) {
  const auto all = elements(random() | take(50), {.seed = 5}, true);
  EXPECT_EQ(elements(random() | take(50), {.seed = 5}, true), all);
  EXPECT_NE(elements(random() | take(50), {.seed = 6}, true), all);
  EXPECT_NE(elements(random({.name = "other"}) | take(50), {.seed = 5}, true), all);
  const auto rest = elements(random() | skip(20) | take(30), {.seed = 5}, true);
  EXPECT_TRUE(std::equal(rest.begin(), rest.end(), all.begin() + 20, all.end()));
  EXPECT_EQ(random().cardinality(), kEndless);
}

TEST(RandomSource, DrawsFromAllOf32Bits) {
  int64_t low = kHuge, high = -1;
  Sequence sequence(random() | take(4000));
  while (auto element = sequence.next()) {
    const int64_t value = (*element)[size_t{0}].item<int64_t>();
    low = std::min(low, value);
    high = std::max(high, value);
  }
  EXPECT_GE(low, 0);
  EXPECT_LT(low, int64_t{1} << 24);
  EXPECT_LT(high, int64_t{1} << 32);
  EXPECT_GT(high, (int64_t{1} << 32) - (int64_t{1} << 24));
}

TEST(RandomSource, IsTheSameInEachEpochUnlessToldOtherwise) {
  const auto halves = [](const Dataset& dataset) {
    const auto all = elements(dataset, {.epochs = 2});
    return std::pair(std::vector(all.begin(), all.begin() + 5), std::vector(all.begin() + 5, all.end()));
  };
  const auto [first, second] = halves(random() | take(5));
  EXPECT_EQ(first, second);
  const auto [one, two] = halves(random({.rerandomize_each_iteration = true}) | take(5));
  EXPECT_EQ(one, first);
  EXPECT_NE(two, first);
}

TEST(RandomSource, MayHaveASeedOfItsOwn) {
  const auto all = elements(random({.seed = 5}) | take(9), {.seed = 1});
  EXPECT_EQ(all, elements(random() | take(9), {.seed = 5}));
  EXPECT_EQ(all, elements(random({.seed = 5}) | take(9), {.seed = 2}));
}

TEST(RandomSource, KeepsTheContract) {
  check_contract(random() | take(6));
  check_contract(random({.rerandomize_each_iteration = true}) | take(6));
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/queue/store/sizes_seen_internal.h"

namespace headpond::internal {
namespace {

TEST(SizesSeen, IsAskedForTheFirstElementsAndThenEverMoreSeldom) {
  SizesSeen seen;
  int64_t asked_early = 0, asked_soon = 0, asked_late = 0;
  for (int64_t passed = 0; passed < 100'000 + 50'900; ++passed) {
    if (!seen.is_due(passed)) continue;
    if (passed < 64) ++asked_early;
    if (passed < 1'000) ++asked_soon;
    if (passed >= 100'000) ++asked_late;
    seen.add(passed, 1);
  }
  EXPECT_EQ(asked_early, 64);
  EXPECT_LE(asked_soon, 200);
  EXPECT_GE(asked_soon, 140) << "a short run is seen well, too";
  EXPECT_NEAR(static_cast<double>(asked_late), 100, 1);
}

TEST(SizesSeen, AllElementsOfABatchAreAskedForEquallyOften) {
  SizesSeen seen;
  for (int64_t passed = 0; passed < 1'000'000; ++passed) {
    if (seen.is_due(passed)) seen.add(passed, passed % 32);
  }
  EXPECT_NEAR(seen.mean(), 15.5, 0.1);
}

TEST(SizesSeen, WhatIsAskedSeldomCountsForAllThatPassedMeanwhile) {
  SizesSeen seen;
  constexpr int64_t kFew = 640;  // The first tenth finds 100 elements, the rest none.
  for (int64_t passed = 0; passed < 10 * kFew; ++passed) {
    if (seen.is_due(passed)) seen.add(passed, passed < kFew ? 100 : 0);
  }
  EXPECT_NEAR(seen.mean(), 10, 0.5);
  EXPECT_EQ(seen.peak(), 100);
}

TEST(SizesSeen, ACallThatMovesNothingAsksOnce) {
  SizesSeen seen;
  ASSERT_TRUE(seen.is_due(0));
  seen.add(0, 0);
  EXPECT_FALSE(seen.is_due(0)) << "a loop of try_dequeue()";
  EXPECT_TRUE(seen.is_due(1));
}

TEST(SizesSeen, KnowsNothingAtFirst) {
  const SizesSeen seen;
  EXPECT_EQ(seen.mean(), 0);
  EXPECT_EQ(seen.peak(), 0);
}

}  // namespace
}  // namespace headpond::internal

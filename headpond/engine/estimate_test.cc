// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/engine/estimate_internal.h"

namespace headpond::internal {
namespace {

TEST(Estimate, BeginsWithTheFirstSample) {
  Estimate estimate(0.5, 0.05);
  EXPECT_FALSE(estimate.known());
  estimate.add(8);
  EXPECT_TRUE(estimate.known());
  EXPECT_EQ(estimate.value(), 8);
}

TEST(Estimate, StaysNearTheHighEndIfItRisesFasterThanItFalls) {
  Estimate high(0.5, 0.05), low(0.05, 0.5);
  for (int i = 0; i < 200; ++i) {
    high.add(i % 2 == 0 ? 10 : 20);
    low.add(i % 2 == 0 ? 10 : 20);
  }
  EXPECT_GT(high.value(), 18);
  EXPECT_LT(low.value(), 12);
}

TEST(Estimate, ForgetsWhatWasLongAgo) {
  Estimate estimate(0.5, 0.05);
  estimate.add(1e9);
  for (int i = 0; i < 500; ++i) estimate.add(1);
  EXPECT_LT(estimate.value(), 2);
}

}  // namespace
}  // namespace headpond::internal

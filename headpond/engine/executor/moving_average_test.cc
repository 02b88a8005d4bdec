// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/engine/executor/moving_average_internal.h"

namespace headpond::internal {
namespace {

TEST(MovingAverage, BeginsWithTheFirstSample) {
  MovingAverage average(0.5, 0.05);
  EXPECT_FALSE(average.known());
  average.add(8);
  EXPECT_TRUE(average.known());
  EXPECT_EQ(average.value(), 8);
}

TEST(MovingAverage, StaysNearTheHighEndIfItRisesFasterThanItFalls) {
  MovingAverage high(0.5, 0.05), low(0.05, 0.5);
  for (int i = 0; i < 200; ++i) {
    high.add(i % 2 == 0 ? 10 : 20);
    low.add(i % 2 == 0 ? 10 : 20);
  }
  EXPECT_GT(high.value(), 18);
  EXPECT_LT(low.value(), 12);
}

TEST(MovingAverage, ForgetsWhatWasLongAgo) {
  MovingAverage average(0.5, 0.05);
  average.add(1e9);
  for (int i = 0; i < 500; ++i) average.add(1);
  EXPECT_LT(average.value(), 2);
}

}  // namespace
}  // namespace headpond::internal

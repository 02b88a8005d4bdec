// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/queue/sync/wait_times_internal.h"

namespace headpond {
namespace {

TEST(WaitTimes, ACallThatWaitsAgainCountsOnceWithAllItsTime) {
  WaitTimes times;
  for (int i = 0; i < 9; ++i) times.add(-1, 4);
  times.add(-1, 4);
  times.add(4, 1000);
  EXPECT_EQ(times.count(), 10);
  EXPECT_EQ(times.total_ns(), 1040);
  EXPECT_EQ(times.quantile_ns(0.5), 4);
  EXPECT_EQ(times.quantile_ns(0.9), 4) << "nine of ten";
  EXPECT_GE(times.quantile_ns(0.99), 1004);
  EXPECT_LE(times.quantile_ns(0.99), 1004 + 1004 / 8);
}

}  // namespace
}  // namespace headpond

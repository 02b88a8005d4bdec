// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/stats.h"

#include <gtest/gtest.h>

#include "headpond/base/clock.h"
#include "headpond/base/thread.h"

namespace headpond {
namespace {

TEST(StatsCell, ReadersSeeASumThatNeverGoesBack) {
  StatsCell cell;
  Thread writer("writer", [&] {
    for (int i = 0; i < 10000; ++i) cell.add(1);
  });
  int64_t last = 0;
  while (last < 10000) {
    const int64_t now = cell.get();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, DeadlinesDoNotOverflow) {
  EXPECT_EQ(deadline_ns(100, std::chrono::nanoseconds(5)), 105);
  EXPECT_EQ(deadline_ns(100, kForever), INT64_MAX);
  EXPECT_EQ(deadline_ns(100, std::chrono::nanoseconds(-5)), 100);
}

}  // namespace
}  // namespace headpond

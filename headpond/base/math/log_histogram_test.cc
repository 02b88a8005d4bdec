// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/math/log_histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace headpond {
namespace {

TEST(LogHistogram, IsZeroWhenEmpty) {
  const LogHistogram histogram;
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.quantile(0.5), 0);
}

TEST(LogHistogram, KnowsSmallValuesExactly) {
  for (int64_t value = 0; value < 16; ++value) {
    LogHistogram histogram;
    histogram.add(value);
    EXPECT_EQ(histogram.quantile(0.5), value);
  }
}

TEST(LogHistogram, IsAtMostAnEighthAboveOneValueAndNeverBelow) {
  std::vector<int64_t> values = {INT64_MAX, INT64_MAX - 1, 1'000'000'007};
  for (int bit = 3; bit < 63; ++bit) {
    for (const int64_t delta : {-1, 0, 1}) values.push_back((int64_t{1} << bit) + delta);
  }
  for (const int64_t value : values) {
    LogHistogram histogram;
    histogram.add(value);
    EXPECT_GE(histogram.quantile(1), value);
    EXPECT_LE(histogram.quantile(1) - value, value / 8) << value;
  }
}

TEST(LogHistogram, FindsTheRankOfAQuantile) {
  LogHistogram histogram;
  for (int64_t value = 1; value <= 1000; ++value) histogram.add(value);
  EXPECT_EQ(histogram.count(), 1000);
  EXPECT_NEAR(static_cast<double>(histogram.quantile(0.5)), 500, 500 / 8.0);
  EXPECT_NEAR(static_cast<double>(histogram.quantile(0.99)), 990, 990 / 8.0);
  EXPECT_EQ(histogram.quantile(0), 1);
}

TEST(LogHistogram, FindsTheRankAmongTheValuesOfTwo) {
  LogHistogram small;
  SharedLogHistogram large;
  for (int64_t value = 1; value <= 6; ++value) small.add(value);
  EXPECT_EQ(small.quantile_with(large, 0.5), 3) << "the other one is empty";
  EXPECT_EQ(LogHistogram().quantile_with(large, 0.5), 0) << "both are";
  for (int64_t value = 7; value <= 15; ++value) large.add(value);
  for (const double share : {0.2, 0.4, 0.6, 0.8, 1.0}) {
    EXPECT_EQ(small.quantile_with(large, share), std::lround(15 * share));
    EXPECT_EQ(large.quantile_with(small, share), std::lround(15 * share));
  }
  EXPECT_EQ(small.quantile(1), 6) << "control: alone";
}

TEST(LogHistogram, CountsANegativeValueAsZero) {
  LogHistogram histogram;
  histogram.add(-5);
  EXPECT_EQ(histogram.count(), 1);
  EXPECT_EQ(histogram.quantile(1), 0);
}

}  // namespace
}  // namespace headpond

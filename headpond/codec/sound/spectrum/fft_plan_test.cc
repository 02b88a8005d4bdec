// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "headpond/codec/sound/spectrum/fft_plan_internal.h"

namespace headpond::spectrum_internal {
namespace {

TEST(FftPlan, SplitsAnySizeAndPutsEachNumberIntoARowOfItsOwn) {
  for (const int64_t points : {1, 2, 3, 4, 7, 30, 64, 154, 400, 401, 512, 2048, 65536}) {
    const FftPlan plan = make_fft_plan(points);
    int64_t size = 1;
    for (const FftStage& stage : plan.stages) {
      ASSERT_EQ(stage.span, size) << points;
      size *= stage.radix;
    }
    EXPECT_EQ(size, points % 2 == 0 ? points / 2 : points);
    std::vector<uint32_t> rows = plan.row_of;
    ASSERT_EQ(rows.size(), static_cast<size_t>(points));
    std::ranges::sort(rows);
    EXPECT_EQ(std::ranges::adjacent_find(rows), rows.end()) << points;
    EXPECT_LT(rows.back(), static_cast<uint32_t>(plan.rows));
  }
}

TEST(FftPlan, DoesTheFirstStagesInDoubleWhileTheyJoinFewNumbers) {
  const auto wide_of = [](int64_t points) {
    const FftPlan plan = make_fft_plan(points);
    return std::pair(plan.wide_stages, plan.wide);
  };
  EXPECT_EQ(wide_of(400), std::pair(size_t{3}, int64_t{100}));
  EXPECT_EQ(wide_of(2048), std::pair(size_t{3}, int64_t{64}));
  EXPECT_EQ(wide_of(60), std::pair(size_t{3}, int64_t{30}));
  EXPECT_EQ(wide_of(2 * 5 * 7 * 11), std::pair(size_t{1}, int64_t{5}));
  EXPECT_EQ(wide_of(14), std::pair(size_t{0}, int64_t{1}));
  EXPECT_EQ(wide_of(1), std::pair(size_t{0}, int64_t{1}));
  EXPECT_LE(wide_of(65536).second, kMostWide);
}

TEST(FftPlan, HasRoomForALargeRadixOnlyWhereThereIsOne) {
  EXPECT_EQ(make_fft_plan(400).spare_rows, 0);
  EXPECT_EQ(make_fft_plan(2 * 7 * 13).spare_rows, 26);
}

}  // namespace
}  // namespace headpond::spectrum_internal

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>

#include "headpond/engine/stages/cost_model_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kMiB = 1 << 20;

constexpr int64_t kMillisecondNs = 1'000'000;

TEST(Waits, AreBelievedAfterAWhileAndUnbelievedToo) {
  Waits waits;
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(waits.add(true, kMillisecondNs));
  EXPECT_TRUE(waits.add(true, kMillisecondNs)) << "the eighth task";
  EXPECT_TRUE(waits.blocking());
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(waits.add(i % 2 == 0, kMillisecondNs)) << "half of them wait";
  EXPECT_TRUE(waits.blocking());
  bool changed = false;
  for (int i = 0; i < 1000 && !changed; ++i) changed = waits.add(false, kMillisecondNs);
  EXPECT_TRUE(changed);
  EXPECT_FALSE(waits.blocking());
}

// Each `period`th task waits for `wait_ns`, the others compute for `rest_ns`.
int changes_among(int tasks, int period, int64_t wait_ns, int64_t rest_ns) {
  Waits waits;
  int changes = 0;
  for (int i = 1; i <= tasks; ++i) changes += waits.add(i % period == 0, i % period == 0 ? wait_ns : rest_ns) ? 1 : 0;
  return changes;
}

TEST(Waits, CountForTheirTime) {
  EXPECT_EQ(changes_among(6400, 64, 200 * kMillisecondNs, 10'000), 1)
      << "nearly all of the time, though most tasks do not wait";
  EXPECT_EQ(changes_among(20'000, 200, 5 * kMillisecondNs, kMillisecondNs / 10), 0) << "a fifth of the time";
  EXPECT_EQ(changes_among(20'000, 100, 5 * kMillisecondNs, kMillisecondNs / 20), 0) << "half of it";
  EXPECT_EQ(changes_among(30'000, 300, 10 * kMillisecondNs, kMillisecondNs / 10), 0) << "a quarter";
  EXPECT_EQ(changes_among(40'000, 2000, 1000 * kMillisecondNs, kMillisecondNs), 0) << "a third, in few waits";
  EXPECT_EQ(changes_among(10'000, 1, kMillisecondNs / 20, kMillisecondNs), 0) << "each waits for too short a time";
}

TEST(CostModel, AfterASurpriseTheNextTasksAreMeasured) {
  CostModel costs;
  EXPECT_FALSE(costs.take_surprise());
  costs.add_surprise();
  for (int64_t i = 0; i < CostModel::kTasksAfterSurprise; ++i) EXPECT_TRUE(costs.take_surprise());
  EXPECT_FALSE(costs.take_surprise());
}

TEST(CostModel, ATaskTakesAsManyRowsAsTakeATenthOfAMillisecond) {
  CostModel costs;
  EXPECT_EQ(costs.rows_for_task(1000, 2), 1) << "unknown";
  costs.add_rows(1, 1000);
  EXPECT_EQ(costs.rows_for_task(1000, 2), 100);
  EXPECT_EQ(costs.rows_for_task(50, 2), 50) << "the whole item is cheap";
  costs = {};
  costs.add_rows(1, 10'000'000);
  EXPECT_EQ(costs.rows_for_task(1000, 2), 1) << "a row is dear";
}

TEST(CostModel, WorkIsWhatAFunctionTakesAndNotHowLongOthersHadItsLock) {
  CostModel alone, among_others, half;
  for (const int64_t waited : {0, 100'000, 9'900'000, 50'000}) {
    alone.add_locked(4, 400'000, 0);
    among_others.add_locked(4, 400'000 + waited, waited);
    half.add_locked(4, 200'000, 0);
  }
  EXPECT_DOUBLE_EQ(alone.work_of(1), 100'000);
  EXPECT_DOUBLE_EQ(among_others.work_of(1), alone.work_of(1));
  EXPECT_DOUBLE_EQ(2 * half.work_of(6), alone.work_of(6));
  among_others.add_locked(1, 1000, 2000);
  EXPECT_GT(among_others.work_of(1), 0) << "clocks are read one after the other";
}

TEST(CostModel, EachThreadGetsSomeRowsOfAnItem) {
  CostModel costs;
  costs.add_rows(1, 2000);
  EXPECT_EQ(costs.rows_for_task(100, 4), 12) << "not the 50 of a tenth of a millisecond";
  EXPECT_EQ(costs.rows_for_task(100, 1), 34);
}

TEST(CostModel, RowsThatAreMadeTogetherAreInOneTask) {
  CostModel costs;
  EXPECT_EQ(costs.rows_for_task(64, 2, 2), 1) << "unknown";
  costs.add_rows(1, 10'000'000);
  EXPECT_EQ(costs.rows_for_task(64, 2, 2), 2) << "though a row is dear";
  EXPECT_EQ(costs.rows_for_task(4, 8, 2), 1) << "all threads get some";
  costs = {};
  costs.add_rows(1, 14'000);
  EXPECT_EQ(costs.rows_for_task(64, 2, 1), 7);
  EXPECT_EQ(costs.rows_for_task(64, 2, 2), 6);
}

TEST(CostModel, ItemsGrowWhileTheyAreCheapAndSmall) {
  CostModel costs, large;
  for (int i = 0; i < 12; ++i) {
    costs.add_rows(1, 10);
    costs.add_completed(costs.elements_to_open(), costs.elements_to_open() * 8, 1000, kMiB);
    large.add_completed(large.elements_to_open(), large.elements_to_open() * kMiB / 4, 1000, kMiB);
  }
  EXPECT_EQ(costs.elements_to_open(), 256);
  EXPECT_EQ(large.elements_to_open(), 4);
  costs.add_rows(1, 1'000'000'000);
  costs.add_completed(256, 256, 1000, kMiB);
  EXPECT_EQ(costs.elements_to_open(), 1) << "dear after all";
}

TEST(CostModel, AFewThatTakeLongMakeThemDearButMostStayCheap) {
  CostModel costs;
  EXPECT_FALSE(costs.is_usually_cheap()) << "unknown";
  for (int i = 0; i < 40; ++i) {
    costs.add_completed(1, 8, i % 10 == 9 ? 1'000'000 : 10'000, kMiB);
    EXPECT_TRUE(costs.is_usually_cheap());
  }
  EXPECT_TRUE(costs.is_dear()) << "near the largest of late";
  for (int i = 0; i < 40; ++i) costs.add_completed(1, 8, 1'000'000, kMiB);
  EXPECT_FALSE(costs.is_usually_cheap());
}

TEST(CostModel, ExpectsAQuarterMoreThanTheLargest) {
  CostModel costs;
  EXPECT_EQ(costs.expected_bytes(), -1);
  costs.add_completed(1, 400, 1, kMiB);
  costs.add_completed(1, 100, 1, kMiB);
  EXPECT_EQ(costs.expected_bytes(), 500);
}

TEST(CostModel, SamplesAreASmallShareOfTheWork) {
  CostModel costs;
  costs.add_rows(100, 1'000'000);
  EXPECT_FALSE(costs.may_sample());
  for (int i = 0; i < 20; ++i) costs.add_rows(100, 1'000'000);
  EXPECT_TRUE(costs.may_sample());
  costs.add_sampled(1'000'000);
  EXPECT_FALSE(costs.may_sample()) << "a millisecond of 21";
  costs = {};
  costs.add_rows(50, 50'000'000);
  EXPECT_FALSE(costs.may_sample()) << "50 dear rows";
}

TEST(CostModel, WhatIsDeclaredBlockingWaits) {
  CostModel costs;
  EXPECT_FALSE(costs.is_blocking());
  costs.declare_blocking();
  EXPECT_TRUE(costs.opens_wait());
  EXPECT_TRUE(costs.rows_wait());
  EXPECT_EQ(costs.rows_for_task(100, 2), 1) << "others may wait meanwhile";
}

}  // namespace
}  // namespace headpond::internal

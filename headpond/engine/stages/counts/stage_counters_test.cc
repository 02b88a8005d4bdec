// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/engine/stages/counts/stage_counters_internal.h"

namespace headpond::internal {
namespace {

TEST(TaskMeter, MeasuresAboutEachEighthTaskOfATenthOfAMillisecond) {
  TaskMeter meter;
  int measured = 0;
  for (int i = 0; i < 80; ++i) {
    if (meter.is_due()) {
      ++measured;
      meter.add_measured(100'000, {});
    } else {
      meter.add(100'000);
    }
  }
  EXPECT_EQ(measured, 10);
  EXPECT_EQ(meter.times().tasks, 80);
  EXPECT_EQ(meter.times().wall_ns, 8e6);
}

TEST(TaskMeter, TheThreeTimesAddUpToAllOfIt) {
  TaskMeter meter;
  meter.add_measured(100, {.cpu_ns = 50, .blocked_ns = 30, .lock_ns = 20});
  meter.add(300);
  const TaskTimes times = meter.times();
  EXPECT_DOUBLE_EQ(times.lock_ns, 80);
  EXPECT_DOUBLE_EQ(times.cpu_ns, 200);
  EXPECT_DOUBLE_EQ(times.blocked_ns, 120);
  EXPECT_DOUBLE_EQ(times.queue_ns, 80);
}

TEST(TaskMeter, WithoutAMeasuredTaskOnlyTheWholeIsKnown) {
  TaskMeter meter;
  meter.add(300);
  EXPECT_EQ(meter.times().wall_ns, 300);
  EXPECT_EQ(meter.times().cpu_ns + meter.times().queue_ns + meter.times().blocked_ns, 0);
}

TEST(Recent, KeepsTheLastValuesInOrder) {
  Recent<int, 3> recent;
  EXPECT_TRUE(recent.values().empty());
  recent.add(1);
  EXPECT_EQ(recent.values(), (std::vector<int>{1}));
  for (const int value : {2, 3, 4}) recent.add(value);
  EXPECT_EQ(recent.values(), (std::vector<int>{2, 3, 4}));
}

}  // namespace
}  // namespace headpond::internal

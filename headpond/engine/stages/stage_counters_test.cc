// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/engine/stages/stage_counters_internal.h"

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
  meter.add_measured(100, {.cpu_ns = 50, .blocked_ns = 30});
  meter.add(300);
  const TaskTimes times = meter.times();
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

// 200 calls, of which 1 to 8 run at once, each as long as `ns_of` says.
template <class NsOf>
std::optional<double> exponent_of(NsOf ns_of) {
  Crowding crowding;
  for (int i = 0; i < 200; ++i) crowding.add(1 + i % 8, ns_of(1 + i % 8));
  return crowding.exponent();
}

TEST(Crowding, TellsWhatIsSharedFromWhatIsNot) {
  EXPECT_NEAR(*exponent_of([](int inside) { return 1000.0 * inside; }), 1, 0.01) << "one disk for all";
  EXPECT_NEAR(*exponent_of([](int) { return 5000.0; }), 0, 0.01) << "each its own";
}

TEST(Crowding, SeesTheWayToANumberThatIsThenThereAllTheTime) {
  Crowding crowding;
  for (int inside = 1; inside <= 256; ++inside) crowding.add(inside, 1000.0 * inside);
  for (int i = 0; i < 10'000; ++i) crowding.add(256, 256'000);
  EXPECT_NEAR(*crowding.exponent(), 1, 0.02);
}

// One of two threads takes the lock ten times in a row, while the other waits.
TEST(Crowding, SeesALockThatIsTakenUnfairly) {
  Crowding crowding;
  for (int i = 0; i < 20; ++i) crowding.add(1, 2000);
  for (int i = 0; i < 200; ++i) crowding.add(2, i % 11 == 10 ? 22'000 : 2000);
  EXPECT_NEAR(*crowding.exponent(), 1, 0.1);
}

TEST(Crowding, IsUnknownWhileAsManyCallsRunAllTheTime) {
  Crowding same, few;
  for (int i = 0; i < 200; ++i) same.add(4, 1000 + i);
  for (int i = 0; i < 10; ++i) few.add(1 + i, 1000);
  EXPECT_FALSE(same.exponent());
  EXPECT_FALSE(few.exponent());
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

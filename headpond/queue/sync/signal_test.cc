// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/sync/signal_internal.h"

namespace headpond::internal {
namespace {

using Waiting = QueueTest;

TEST_F(Waiting, ARaiseBeforeTheWaitIsNotLost) {
  Signal signal;
  signal.raise();
  EXPECT_TRUE(signal.is_raised());
  EXPECT_TRUE(signal.wait(INT64_MAX));
  signal.reset();
  EXPECT_FALSE(signal.is_raised());
}

TEST_F(Waiting, ADeadlineEndsTheWaitAndLeavesTheSignalUsable) {
  Signal signal;
  EXPECT_FALSE(signal.wait(now_ns() - 1));
  const int64_t deadline = now_ns() + 3'000'000;
  EXPECT_FALSE(signal.wait(deadline));
  EXPECT_GE(now_ns(), deadline);
  signal.raise();
  EXPECT_TRUE(signal.wait(INT64_MAX));
}

TEST_F(Waiting, EachOfManyRaisesWakesTheSleeper) {
  Signal there;
  Signal back;
  std::thread other([&] {
    for (int i = 0; i < 2000; ++i) {
      ASSERT_TRUE(there.wait(INT64_MAX));
      there.reset();
      back.raise();
    }
  });
  for (int i = 0; i < 2000; ++i) {
    there.raise();
    ASSERT_TRUE(back.wait(INT64_MAX));
    back.reset();
  }
  other.join();
}

TEST_F(Waiting, ARaiseAtTheDeadlineIsOneOfBoth) {
  for (int i = 0; i < 500; ++i) {
    Signal signal;
    std::thread raiser([&] { signal.raise(); });
    if (!signal.wait(now_ns() + i % 50 * 1000)) {
      // Timed out: the raise is still to come, and is seen.
      EXPECT_TRUE(signal.wait(INT64_MAX));
    }
    raiser.join();
    EXPECT_TRUE(signal.is_raised());
  }
}

TEST_F(Waiting, PatienceHasOneDeadlineHoweverOftenItIsAsked) {
  const Wait wait{.timeout = milliseconds(50)};
  WaitContext context(wait);
  const int64_t first = context.deadline();
  std::this_thread::sleep_for(milliseconds(2));
  EXPECT_EQ(context.deadline(), first);
  EXPECT_FALSE(context.is_none());
  const Wait for_ever;
  EXPECT_EQ(WaitContext(for_ever).deadline(), INT64_MAX);
  const Wait none{.timeout = std::chrono::nanoseconds(0)};
  EXPECT_TRUE(WaitContext(none).is_none());
  const Wait negative{.timeout = std::chrono::nanoseconds(-1)};
  EXPECT_TRUE(WaitContext(negative).is_none());
}

TEST_F(Waiting, SpinningEndsWhenReadyOrAfterAboutAWakeTime) {
  EXPECT_TRUE(spin_until([] { return true; }, false));
  EXPECT_FALSE(spin_until([] { return false; }, false));
  int looks = 0;
  eventually([&] {  // Unless the system takes the processor away meanwhile.
    looks = 0;
    return spin_until([&] { return ++looks == 20; }, false);
  });
  looks = 0;
  EXPECT_FALSE(spin_until([&] { return ++looks == 20; }, true));
  EXPECT_EQ(looks, 1);
}

TEST_F(Waiting, TheWakeTimeStaysWithinItsBounds) {
  EXPECT_GE(wake_time_ns(), 1'000);
  EXPECT_LE(wake_time_ns(), 50'000);
}

TEST_F(Waiting, AThreadThatMayUseOneCpuKnowsIt) {
  std::thread pinned([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(current_cpu()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(only_cpu(), current_cpu());
  });
  pinned.join();
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "headpond/engine/stages/counts/thread_usage_internal.h"

namespace headpond::internal {
namespace {

TEST(ThreadUsage, ATaskThatGaveTheProcessorUpHasWaited) {
  EXPECT_TRUE(has_waited({}, {.cpu_ns = 10, .waits = 1}, 100));
  EXPECT_FALSE(has_waited({}, {.cpu_ns = 10, .waits = 1, .preempted = 1}, 100)) << "others took it away as often";
  EXPECT_FALSE(has_waited({}, {.cpu_ns = 60, .waits = 1}, 100)) << "it computed most of the time";
  EXPECT_FALSE(has_waited({.waits = 7}, {.cpu_ns = 10, .waits = 7}, 100)) << "it gave it up before it began";
  EXPECT_FALSE(has_waited({}, {.cpu_ns = 10, .waits = 1, .lock_wait_ns = 85}, 100))
      << "it waited for a function's lock";
  EXPECT_TRUE(has_waited({}, {.cpu_ns = 10, .waits = 1, .lock_wait_ns = 50}, 100)) << "and for something else";
}

TEST(ThreadUsage, TimeOffTheProcessorIsSharedByTheReasons) {
  const TaskUse use = use_of({.cpu_ns = 5, .waits = 2}, {.cpu_ns = 25, .waits = 5, .preempted = 1}, 100);
  EXPECT_EQ(use.cpu_ns, 20);
  EXPECT_EQ(use.blocked_ns, 60) << "three of four switches were its own";
  EXPECT_EQ(use_of({}, {.cpu_ns = 20}, 100).blocked_ns, 0) << "no switch was seen";
  EXPECT_EQ(use_of({}, {.cpu_ns = 120, .waits = 1}, 100).blocked_ns, 0) << "clocks differ a little";
  EXPECT_LT(use.queue_ns, 0) << "not asked";
}

TEST(ThreadUsage, WhoHasHisShareOfALockMayHaveComputed) {
  constexpr int64_t kLong = 100'000'000;
  const auto with_share = [](double share, double queue = -1) {
    return TaskUse{.cpu_ns = share * kLong, .queue_ns = queue * kLong};
  };
  EXPECT_TRUE(may_share_lock(with_share(0.24), kLong, 1, 4)) << "each of four had a quarter";
  EXPECT_FALSE(may_share_lock(with_share(0.15), kLong, 1, 4)) << "it waited for something else, too";
  EXPECT_FALSE(may_share_lock(with_share(0.24), kLong, 1, 2));
  EXPECT_TRUE(may_share_lock(with_share(0.15, 0.1), kLong, 1, 4)) << "others had the processor meanwhile";
  EXPECT_FALSE(may_share_lock(with_share(0.24), kLong, kLong - kMayLoseLockNs, 4)) << "too short to lose it";
}

TEST(ThreadUsage, CountsTheCallingThread) {
  const ThreadUsage before = ThreadUsage::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const ThreadUsage after = ThreadUsage::now();
  EXPECT_GE(after.cpu_ns, before.cpu_ns);
  EXPECT_GT(after.waits, before.waits);
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/engine/executor/consumer_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kCheapNs = 1000, kDearNs = 1'000'000;

// Whether it makes batches itself after ten takes.
bool is_inline_after_ten(Consumer& consumer, int64_t work_ns, bool any_blocking = false) {
  EngineLock lock;
  const Locked locked(lock);
  for (int i = 0; i < 10; ++i) (void)consumer.count_take(work_ns, any_blocking);
  EXPECT_EQ(consumer.takes(), 10);
  return consumer.is_inline();
}

TEST(Consumer, MakesCheapBatchesItself) {
  Consumer cheap(true), dear(true), may_not(false), waits(true);
  EXPECT_TRUE(is_inline_after_ten(cheap, kCheapNs));
  EXPECT_FALSE(is_inline_after_ten(dear, kDearNs));
  EXPECT_FALSE(is_inline_after_ten(may_not, kCheapNs)) << "it may not help";
  EXPECT_FALSE(is_inline_after_ten(waits, kCheapNs, true)) << "something waits";
}

TEST(Consumer, LeavesBatchesToThreadsWhenTheyGetDear) {
  Consumer consumer(true);
  EXPECT_TRUE(is_inline_after_ten(consumer, kCheapNs));
  EngineLock lock;
  const Locked locked(lock);
  EXPECT_FALSE(consumer.count_take(kCheapNs, false));
  bool ended = false;
  for (int i = 0; i < 10 && !ended; ++i) ended = consumer.count_take(kDearNs, false);
  EXPECT_TRUE(ended);
  EXPECT_FALSE(consumer.is_inline());
}

TEST(Consumer, KnowsTheTimeBetweenTakesAfterItsFirstStep) {
  Consumer consumer(true);
  EngineLock lock;
  {
    const Locked locked(lock);
    (void)consumer.count_take(0, false);
    EXPECT_EQ(consumer.take_interval_ns(1, 0), 0) << "unknown";
  }
  consumer.arrive(lock);
  consumer.leave();
  consumer.arrive(lock);
  const Locked locked(lock);
  (void)consumer.count_take(0, false);
  const double interval = consumer.take_interval_ns(1, 0);
  EXPECT_GE(interval, 2000) << "two steps of a microsecond at least";
  EXPECT_EQ(consumer.take_interval_ns(2, 0), interval / 2) << "a stage that gave two items meanwhile";
  EXPECT_EQ(consumer.take_interval_ns(0, 0), 0);
}

TEST(Consumer, ComputesUntilItIsKnownToSleep) {
  Consumer consumer(true);
  EXPECT_FALSE(consumer.computes()) << "before the first batch nothing is held up";
  consumer.leave();
  EXPECT_TRUE(consumer.computes());
  EXPECT_GE(consumer.cpu(), 0);
}

}  // namespace
}  // namespace headpond::internal

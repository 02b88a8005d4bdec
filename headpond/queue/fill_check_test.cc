// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <mutex>

#include "headpond/base/clock.h"
#include "headpond/base/log.h"
#include "headpond/queue/fill_check_internal.h"
#include "headpond/queue/queue_test_internal.h"

namespace headpond::internal {
namespace {

using std::chrono::seconds;

// The warnings about a queue into which each put brings `step` elements, `apart_ns` after the one before.
std::vector<std::string> warnings(FillCheck check, int64_t step, int64_t apart_ns, int64_t puts = 1000) {
  std::vector<std::string> all;
  int64_t now = 5'000'000'000;
  for (int64_t i = 1; i <= puts; ++i, now += apart_ns) {
    if (!check.is_due(i * step)) continue;
    if (std::string text = check.look(i * step, now); !text.empty()) all.push_back(std::move(text));
  }
  return all;
}

constexpr int64_t kTenth = 100'000'000;

TEST(Filling, ASlowProducerIsToldOnceWithTheForecastAndTheNumberToUse) {
  const auto told = warnings({999, seconds(60)}, 1, kTenth);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0],
            "at the producers' rate of 10 elements/s the minimum fill of 1000 elements takes 100 s, more than "
            "fill_patience (60 s): add producers or use min_after_dequeue = 599");
  EXPECT_TRUE(warnings({599, seconds(60)}, 1, kTenth).empty());
}

TEST(Filling, AFastProducerIsNotTold) {
  EXPECT_TRUE(warnings({999, seconds(60)}, 1, kTenth / 2).empty());
  EXPECT_TRUE(warnings({999, kForever}, 1, 1000 * kTenth).empty());
  EXPECT_TRUE(warnings({999, seconds(0)}, 1, 0).empty());
}

TEST(Filling, IsLookedAtWhenSixtyFourElementsAreIn) {
  EXPECT_TRUE(warnings({999, seconds(1)}, 1, kTenth, 63).empty());
  EXPECT_EQ(warnings({999, seconds(1)}, 1, kTenth, 64).size(), 1U);
  FillCheck check(999, seconds(1));
  EXPECT_TRUE(check.is_due(1));
  EXPECT_TRUE(check.look(1, 7).empty());
  EXPECT_FALSE(check.is_due(63));
  EXPECT_TRUE(check.is_due(64));
}

TEST(Filling, PutsOfManyRowsHaveTheSameRateAndTwoAreEnough) {
  for (const int64_t step : {32, 50, 100, 300}) {
    const auto told = warnings({999, seconds(60)}, step, step * kTenth);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_THAT(told[0], ::testing::HasSubstr("rate of 10 elements/s"));
  }
  EXPECT_TRUE(warnings({999, seconds(60)}, 1000, 1000 * kTenth).empty());
}

TEST(Filling, WhatSixtyFourElementsFillIsNeverLookedAt) {
  EXPECT_FALSE(FillCheck(63, seconds(0)).is_due(INT64_MAX - 1));
  EXPECT_FALSE(FillCheck(0, seconds(0)).is_due(INT64_MAX - 1));
  EXPECT_TRUE(FillCheck(64, seconds(0)).is_due(1));
}

TEST(Filling, TheNumberToUseIsNeverBelowZero) {
  EXPECT_THAT(warnings({999, seconds(1)}, 1, 20 * kTenth),
              ::testing::ElementsAre(::testing::HasSubstr("min_after_dequeue = 0")));
}

class QueueFilling : public QueueTest {
 protected:
  // Fills a queue of that patience beyond its minimum, one by one or at once; returns what was logged.
  static std::vector<std::string> fill(std::chrono::nanoseconds patience, bool at_once) {
    std::vector<std::string> lines;
    set_log_sink([&](LogLevel level, std::string_view line) {
      EXPECT_EQ(level, LogLevel::warning);
      lines.emplace_back(line);
    });
    {
      const RandomShuffleQueue queue(
          {.capacity = 300, .dtypes = {i64}, .shapes = {Shape{}}, .name = "pond", .fill_patience = patience}, 200);
      if (at_once) {
        EXPECT_TRUE(queue.enqueue_many(numbers(range(0, 100))) && queue.enqueue_many(numbers(range(0, 100))));
        EXPECT_TRUE(queue.enqueue_many(numbers(range(0, 100))));
      } else {
        for (int64_t i = 0; i < 300; ++i) EXPECT_TRUE(queue.enqueue(number(i)));
      }
    }
    { const EndOfReports end; }
    return lines;
  }
};

TEST_F(QueueFilling, IsToldOnceByTheQueueWithItsName) {
  for (const bool at_once : {false, true}) {
    EXPECT_THAT(fill(std::chrono::nanoseconds(1), at_once),
                ::testing::ElementsAre(::testing::StartsWith("RandomShuffleQueue 'pond': at the producers' rate of ")));
  }
}

TEST_F(QueueFilling, IsNotToldOfAFastProducer) {
  for (const bool at_once : {false, true}) EXPECT_TRUE(fill(QueueOptions{}.fill_patience, at_once).empty());
}

}  // namespace
}  // namespace headpond::internal

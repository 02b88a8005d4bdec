// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/pipeline_rates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headpond {

static bool operator==(const Scalar& a, const Scalar& b) { return a.tag == b.tag && a.value == b.value; }

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kSecond = 1'000'000'000;

TEST(PipelineRates, SaysNothingAboutTheFirstPoint) {
  EXPECT_THAT(PipelineRates().since_last({.steps = 5, .elements = 100}, 7 * kSecond), IsEmpty());
}

TEST(PipelineRates, GivesTheRatesSinceThePointBefore) {
  PipelineRates rates;
  rates.since_last({100, 3200, 32000, 100, 10 * kSecond}, 20 * kSecond);
  EXPECT_THAT(rates.since_last({140, 4480, 44800, 140, 11 * kSecond}, 22 * kSecond),
              ElementsAre(Scalar{"global_step/sec", 20}, Scalar{"pipeline/elements_per_sec", 640},
                          Scalar{"pipeline/bytes_per_sec", 6400}, Scalar{"pipeline/consumer_wait_ms", 25},
                          Scalar{"pipeline/starved_fraction", 0.5}));
}

TEST(PipelineRates, LeavesOutWhatIsNotCounted) {
  PipelineRates rates;
  rates.since_last({.elements = 0}, 0);
  EXPECT_THAT(rates.since_last({.elements = 10}, kSecond), ElementsAre(Scalar{"pipeline/elements_per_sec", 10}));
}

TEST(PipelineRates, HasNoMeanWaitWhenNoCallEnded) {
  PipelineRates rates;
  rates.since_last({.calls = 4, .wait_ns = 0}, 0);
  EXPECT_THAT(rates.since_last({.calls = 4, .wait_ns = kSecond}, kSecond),
              ElementsAre(Scalar{"pipeline/starved_fraction", 1}));
}

TEST(PipelineRates, StaysWithinBoundsWhenTotalsWereReadAmidAStep) {
  PipelineRates rates;
  rates.since_last({.steps = 10, .wait_ns = 0}, 0);
  EXPECT_THAT(rates.since_last({.steps = 9, .wait_ns = 2 * kSecond}, kSecond),
              ElementsAre(Scalar{"global_step/sec", 0}, Scalar{"pipeline/starved_fraction", 1}));
}

TEST(PipelineRates, SaysNothingWhenNoTimePassed) {
  PipelineRates rates;
  rates.since_last({.steps = 10}, kSecond);
  EXPECT_THAT(rates.since_last({.steps = 11}, kSecond), IsEmpty());
}

}  // namespace
}  // namespace headpond

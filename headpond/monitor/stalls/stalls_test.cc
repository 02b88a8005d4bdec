// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/stalls/stalls.h"

#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <thread>

#include "headpond/base/clock.h"
#include "headpond/dataset/ops.h"

namespace headpond {
namespace {

using namespace std::chrono_literals;

int64_t spin(int64_t x) {
  for (const int64_t end = now_ns() + 5'000'000; now_ns() < end;) {
  }
  return x;
}

Dataset numbers() { return range(1000); }

// One after the other, 4 ms each.
Dataset slow_numbers() {
  const auto generator = [](uint64_t) -> Generator {
    return [next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      std::this_thread::sleep_for(4ms);
      return Element{Tensor::scalar(next++)};
    };
  };
  return from_generator(generator, {{"", DType::i64, {}}});
}

StallsOptions short_run() { return {.step = 1ms, .batches = 6, .rounds = 3}; }

TEST(MeasureStalls, WorkAfterTheRecordsIsPreparation) {
  const auto stalls = measure_stalls(&numbers, map(&spin) | batch(4), short_run(), 32);
  ASSERT_TRUE(stalls) << stalls.error();
  EXPECT_GT(stalls->preparation, stalls->fetch_warm);
  EXPECT_GT(stalls->preparation, stalls->fetch_cold);
  EXPECT_GT(stalls->most_gain, 1);
  EXPECT_GE(stalls->ready_ms, 1);
}

TEST(MeasureStalls, WhatTheSourceWaitsForIsFetching) {
  const auto stalls = measure_stalls(&slow_numbers, batch(4), short_run(), 32);
  ASSERT_TRUE(stalls) << stalls.error();
  EXPECT_GT(stalls->fetch_warm, stalls->preparation) << "control: its records are in memory then";
  EXPECT_GT(stalls->fetch_cold, stalls->preparation);
}

TEST(MeasureStalls, ThePipelineIsMadeAnewForEachMeasurement) {
  std::vector<bool> made;
  const auto make = [&](bool in_memory) {
    made.push_back(in_memory);
    return in_memory ? range(20) | cache() | batch(2) : range(20) | batch(2);
  };
  ASSERT_TRUE(measure_stalls(make, {.batches = 5, .rounds = 2}));
  EXPECT_THAT(made, testing::ElementsAre(false, true, false, false, true, false, false));
}

TEST(MeasureStalls, AnEpochMayHaveNoEnd) {
  for (const Step& mixed : {shuffle(), shuffle({.window = 8}), take_while([](int64_t) { return true; })}) {
    std::atomic<int64_t> kept = 0, others = 0;
    const auto pipeline = [&](bool in_memory) {
      std::atomic<int64_t>& made = in_memory ? kept : others;
      const Dataset records = range(32) | map([&made](int64_t x) { return ++made, x; });
      return (in_memory ? records | cache() : records) | mixed | repeat() | batch(4);
    };
    const auto stalls = measure_stalls(pipeline, {.batches = 40, .rounds = 1});
    ASSERT_TRUE(stalls) << stalls.error();
    EXPECT_EQ(kept, 32) << "the cache was filled, and nothing made again";
    EXPECT_GE(others, 2 * 160) << "control";
  }
}

TEST(MeasureStalls, SaysWhatCannotBeMeasured) {
  const Step pairs = batch(2);
  EXPECT_EQ(measure_stalls(&numbers, pairs, short_run(), 2).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(
      measure_stalls(&numbers, map([](int64_t x) { return x; }) | shuffle() | pairs, short_run(), 0).error().kind(),
      ErrorKind::InvalidArgument);
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(measure_stalls(&numbers, pairs, {.stop = stopped.get_token()}).error().kind(), ErrorKind::Cancelled);
  const auto fails = [](int64_t) -> int64_t { throw Exception(Error(ErrorKind::DataLoss, "bad")); };
  EXPECT_EQ(measure_stalls(&numbers, map(fails) | pairs, short_run()).error().kind(), ErrorKind::DataLoss);
  for (const StallsOptions& bad :
       {StallsOptions{.step = -1ns}, StallsOptions{.batches = 0}, StallsOptions{.rounds = 0}})
    EXPECT_THROW((void)measure_stalls(&numbers, pairs, bad), Exception);
}

}  // namespace
}  // namespace headpond

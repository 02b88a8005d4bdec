// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"
#include "headpond/engine/check/order_quality_internal.h"
#include "headpond/engine/check/tried_internal.h"

namespace headpond::internal {
namespace {

using testing::DoubleNear;

void sleep_us(int64_t us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }

// 0, 1, ... as a stream; `calls` are those of its generator, each of which takes so long.
Dataset counting(int64_t& calls, int64_t us = 0) {
  const auto make = [&calls, us](uint64_t) -> Generator {
    return [&calls, us, next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      ++calls;
      if (us > 0) sleep_us(us);
      return Element{Tensor::scalar(next++)};
    };
  };
  return from_generator(make, {{"", i64, {}}}, {.name = "counting"});
}

TEST(Tried, OneOfEachPartAndTheSameInEachCall) {
  std::vector<int64_t> asked;
  const Dataset counted = range(1003) | map([&asked](int64_t x) { return asked.push_back(x), x; });
  for (const int round : {0, 1}) EXPECT_EQ(try_elements(counted.node(), 5, 4).asked, 4) << round;
  ASSERT_EQ(asked.size(), 8U);
  for (size_t part = 0; part < 4; ++part) {
    const int64_t begin = std::array<int64_t, 4>{0, 251, 502, 753}.at(part);
    EXPECT_GE(asked[part], begin);
    EXPECT_LT(asked[part], begin + (part < 3 ? 251 : 250));
    EXPECT_EQ(asked[part + 4], asked[part]);
  }
  asked.clear();
  EXPECT_EQ(try_elements(counted.node(), 0, 2000).asked, 1003);
  EXPECT_TRUE(std::is_sorted(asked.begin(), asked.end()));
  EXPECT_EQ(asked.back(), 1002) << "each of them once";
}

TEST(ReadFor, IsAboutWhatAShuffleOfAStreamReads) {
  constexpr int64_t kWindow = 1000;
  int64_t calls = 0;
  const Dataset shuffled = counting(calls) | shuffle({.window = kWindow});
  Sequence sequence(shuffled);
  int64_t given = 0;
  for (const int64_t count : {100, 500, 1000, 3000}) {
    for (; given < count; ++given) ASSERT_TRUE(sequence.next());
    EXPECT_THAT(static_cast<double>(calls), DoubleNear(read_for(count, kWindow), 0.12 * read_for(count, kWindow)));
  }
}

TEST(ReadByOrder, IsWhatAShuffleOfAStreamReads) {
  constexpr int64_t kWindow = 5000;
  for (const uint64_t seed : {0, 4, 5, 7}) {
    int64_t calls = 0;
    const Dataset shuffled = counting(calls) | shuffle({.window = kWindow});
    Sequence sequence(shuffled, {.seed = seed});
    for (int i = 0; i < 32; ++i) ASSERT_TRUE(sequence.next());
    const int64_t read = calls;
    EXPECT_EQ(read_by_order(*shuffled.node(), seed, 32), read) << seed;
    const Tried tried = try_elements(shuffled.node(), seed, 64);
    const double above_ns = (tried.ns - tried.below_ns) / 64, below_ns = tried.below_ns / 64;
    EXPECT_NEAR(tried.seconds_for(32, {.threads = 1}), 1e-9 * (below_ns * static_cast<double>(read) + above_ns * 32),
                1e-9);
  }
  int64_t calls = 0;
  EXPECT_EQ(read_by_order(*(counting(calls) | shuffle({.window = 3})).node(), 0, 0), 0);
}

TEST(Tried, OfAShuffledStreamNoMoreIsReadThanAsked) {
  int64_t calls = 0;
  const Tried tried = try_elements((counting(calls) | shuffle({.window = 1000})).node(), 0, 64);
  EXPECT_EQ(tried.asked, 64);
  EXPECT_EQ(calls, 64);
  EXPECT_EQ(tried.window, 1000);
}

TEST(Tried, ASourceThatGivesOneAfterTheOtherHasOneThread) {
  int64_t calls = 0;
  const auto map_of = [](int64_t us) {
    return map(
        [us](int64_t x) {
          sleep_us(us);
          return x;
        },
        {.name = "slow"});
  };
  const Tried slow_source = try_elements((counting(calls, 2000) | map_of(200)).node(), 0, 10);
  EXPECT_NEAR(slow_source.seconds_for(100, {.threads = 4}), 100 * slow_source.source_ns / 10 * 1e-9, 1e-6);
  EXPECT_GT(slow_source.seconds_for(100, {.threads = 4}), 0.2);
  const Tried slow_map = try_elements((counting(calls) | map_of(2000)).node(), 0, 10);
  EXPECT_NEAR(slow_map.seconds_for(100, {.threads = 4}), slow_map.seconds_for(100, {.threads = 1}) / 4, 1e-6);
  EXPECT_GT(slow_map.seconds_for(100, {.threads = 1}), 0.2);
}

TEST(Tried, AWindowIsFilledFromBelowOnly) {
  int64_t calls = 0, mapped = 0;
  const auto count = [&mapped](int64_t x) {
    ++mapped;
    sleep_us(1000);
    return x;
  };
  const Dataset dataset = counting(calls, 100) | shuffle({.window = 400}) | map(count, {.name = "count"});
  const Tried tried = try_elements(dataset.node(), 0, 20);
  EXPECT_EQ(mapped, 20);
  const double each = tried.below_ns / 20 * 1e-9, above = (tried.ns - tried.below_ns) / 20 * 1e-9;
  const auto read = static_cast<double>(read_by_order(*tried.order, 0, 100));
  EXPECT_NEAR(read, 400, 60);
  EXPECT_THAT(tried.seconds_for(100, {.threads = 1}), DoubleNear(read * each + 100 * above, 1e-9));
}

TEST(Tried, ASourceThatGivesOneAfterTheOtherHasOneThreadAlsoBelowAPartOfIt) {
  int64_t calls = 0;
  const Tried part = try_elements((counting(calls, 500) | skip(2) | take(50)).node(), 0, 10);
  EXPECT_NEAR(part.seconds_for(100, {.threads = 4}), 100 * part.source_ns / 10 * 1e-9, 1e-6);
  const auto same = map([](int64_t x) { return x; }, {.name = "same"});
  const Tried mapped = try_elements((counting(calls, 500) | same | take(50)).node(), 0, 10);
  EXPECT_LT(mapped.seconds_for(100, {.threads = 4}), mapped.seconds_for(100, {.threads = 1}))
      << "control: others may work on a map below it";
}

TEST(Tried, AboveAWindowAFilterAsksItForMore) {
  int64_t calls = 0;
  const auto few = filter([](int64_t x) { return x % 10 == 0; }, {.name = "few"});
  const Dataset above = counting(calls, 1000) | shuffle({.window = 1000}) | few;
  const Tried tried = try_elements(above.node(), 0, 50);
  EXPECT_EQ(tried.holes, 45);
  EXPECT_EQ(tried.holes_below, 0);
  const double each = tried.source_ns / 50 * 1e-9;
  const auto read = [](const Tried& of, int64_t given) {
    return static_cast<double>(read_by_order(*of.order, 0, given));
  };
  EXPECT_NEAR(tried.seconds_for(40, {.threads = 1}) / (read(tried, 400) * each), 1, 0.1);
  const Tried below = try_elements((counting(calls, 1000) | few | shuffle({.window = 1000})).node(), 0, 50);
  EXPECT_EQ(below.holes_below, 45);
  EXPECT_NEAR(below.seconds_for(40, {.threads = 1}) / (10 * read(below, 40) * below.source_ns / 50 * 1e-9), 1, 0.1);
}

TEST(Tried, NobodyReadsMoreThanThereIs) {
  int64_t calls = 0;
  const Tried all = try_elements((counting(calls, 200) | take(30) | shuffle({.window = 10'000})).node(), 0, 64);
  EXPECT_TRUE(all.is_all);
  EXPECT_LE(all.seconds_for(20, {.threads = 1}), 1e-9 * all.ns);
  EXPECT_GE(all.seconds_for(20, {.threads = 1}), 1e-9 * all.below_ns) << "all of them are read";
  EXPECT_FALSE(try_elements((counting(calls) | shuffle({.window = 10'000})).node(), 0, 64).is_all);
}

TEST(Tried, WaitsAreToldFromWork) {
  const auto waits = map(
      [](int64_t x) {
        sleep_us(1000);
        return x;
      },
      {.name = "waits"});
  const auto works = map(
      [](int64_t x) {
        const auto began = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - began < std::chrono::microseconds(1000)) {
        }
        return x;
      },
      {.name = "works"});
  int64_t calls = 0;
  for (const Dataset& source : {range(100), counting(calls)}) {
    const Tried waited = try_elements((source | waits).node(), 0, 20),
                worked = try_elements((source | works).node(), 0, 20);
    EXPECT_GT(waited.blocked_ns, 0.5 * waited.ns);
    EXPECT_LT(worked.blocked_ns, 0.5 * worked.ns);
    EXPECT_GT(waited.usual_ns(), 1e6);
    // As a share of what one thread takes.
    const auto part = [](const Tried& tried, const Workers& workers) {
      return tried.seconds_for(1000, workers) / (1e-9 * tried.element_ns() * 1000);
    };
    EXPECT_LT(part(waited, {.threads = 2, .io_threads = 100, .are_waits_declared = true}), 0.4);
    EXPECT_LT(part(waited, {.threads = 2, .io_threads = 100}), 0.4) << "they are detected";
    EXPECT_NEAR(part(waited, {.threads = 2, .io_threads = 100, .are_waits_detected = false}), 0.5, 1e-9);
    EXPECT_NEAR(part(waited, {.threads = 2}), 0.5, 1e-9);
    EXPECT_NEAR(part(worked, {.threads = 2, .io_threads = 100}), 0.5, 1e-9);
  }
}

TEST(Tried, TheUsualTimeIsNotThatOfTheFirstElements) {
  const Tried tried = try_elements((range(20) | map([](int64_t x) {
                                      sleep_us(x < 3 ? 20'000 : 1000);
                                      return x;
                                    })).node(),
                                   0, 20);
  EXPECT_LT(tried.usual_ns(), tried.element_ns() / 2);
  EXPECT_EQ(Tried().usual_ns(), 0);
}

TEST(Tried, LargeElementsAreCopiedIfThereAreBatches) {
  const auto sized = [](int64_t bytes) {
    return (range(100) |
            map([bytes](int64_t) { return Tensor::empty(DType::u8, {bytes}); }, {.output = {{"", u8, {bytes}}}}))
        .node();
  };
  EXPECT_EQ(try_elements(sized(10'000), 0, 20, 8).copied, 20);
  EXPECT_GT(try_elements(sized(10'000), 0, 20, 8).copy_seconds(8, 1), 0);
  EXPECT_EQ(try_elements(sized(10'000), 0, 20).copied, 0);
  EXPECT_EQ(try_elements(sized(100), 0, 20, 8).copied, 0);
  EXPECT_EQ(try_elements(sized(10 << 20), 0, 20, 8).copied, 3) << "no more than 32 MiB";
}

TEST(Tried, WhatAFilterLeavesOutIsMadeToo) {
  const auto slow = [](int64_t x) {
    sleep_us(500);
    return x % 4 == 0;
  };
  const Tried tried = try_elements((range(40) | filter(slow, {.name = "slow"})).node(), 0, 40);
  EXPECT_EQ(tried.holes, 30);
  EXPECT_THAT(tried.seconds_for(10, {.threads = 1}), DoubleNear(1e-9 * tried.ns, 1e-9));
}

}  // namespace
}  // namespace headpond::internal

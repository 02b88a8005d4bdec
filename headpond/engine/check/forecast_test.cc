// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "headpond/dataset/ops.h"
#include "headpond/engine/check/check.h"
#include "headpond/engine/loader.h"
#include "headpond/engine/testing/engine_test_internal.h"
#include "headpond/tensor/memory_account.h"

namespace headpond::internal {
namespace {

using testing::Contains;
using testing::Field;
using testing::Not;
using testing::StartsWith;

constexpr int64_t kRow = 40'000;

auto named(const std::string& start) { return Contains(Field(&MemoryPart::what, StartsWith(start))); }

Tensor row_of(int64_t x) { return Tensor::from(std::vector<uint8_t>(kRow, static_cast<uint8_t>(x)), {kRow}); }

Dataset rows(int64_t count = 100'000) { return range(count) | map(&row_of, {.output = {{"", u8, {kRow}}}}); }

Dataset numbers_after(int64_t busy) {
  const auto make = [busy](uint64_t) -> Generator {
    return [busy, next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      busy_us(busy);
      return Element{row_of(next++)};
    };
  };
  return from_generator(make, {{"", u8, {kRow}}}, {.name = "generated"});
}

// Of a program that is slower than the Loader and holds one batch.
double told_by_used(const Dataset& dataset, const LoaderOptions& options) {
  const auto told = static_cast<double>(check(dataset, {.loader = options}).memory_bytes());
  Loader loader(dataset, options);
  for (int i = 0; i < 12; ++i) {
    const auto held = loader.next();
    EXPECT_TRUE(held);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return told / static_cast<double>(loader.stats().memory_peak);
}

TEST(ForecastMemory, IsBelowTheMemory) {
  const int64_t one = block_bytes(8 * kRow);
  for (const int64_t memory : {4 * one, 7 * one / 2, 2 * one}) {
    const CheckReport report = check(rows() | batch(8), {.loader = {.threads = 2, .memory = memory}});
    EXPECT_LE(report.memory_bytes(), memory);
    EXPECT_GE(report.memory_bytes(), one);
    EXPECT_EQ(report.memory.front().bytes % one, 0) << "whole batches";
  }
  const auto at_once = [&](int64_t memory) {
    return check(rows() | batch(8), {.loader = {.threads = 2, .memory = memory}}).memory.front().bytes / one;
  };
  EXPECT_EQ(at_once(100 * one), 5) << "control";
  EXPECT_EQ(at_once(1), 1) << "one is always made";
}

TEST(ForecastMemory, HasWhatAGeneratorMakesAhead) {
  const CheckReport report = check(numbers_after(20) | batch(8), {.loader = {.threads = 2}});
  EXPECT_THAT(report.memory, named("from_generator"));
  EXPECT_THAT(check(rows() | batch(8), {}).memory, Not(Contains(Field(&MemoryPart::what, testing::HasSubstr("ahead")))))
      << "control: its rows are made in their batch";
  EXPECT_TRUE(is_so_in_one_run([] {
    const double ratio = told_by_used(numbers_after(20) | batch(8), {.threads = 2});
    return ratio > 0.75 && ratio < 1.35;
  }));
}

TEST(ForecastMemory, OfElementsThatAreNoBatchesSeveralAreMadeTogether) {
  // So cheap that many fit into a task's time on any machine, with any checks of memory.
  const Dataset cheap = range(100'000) | map([](int64_t x) { return x + 1; });
  EXPECT_TRUE(is_so_in_one_run(
      [&] { return check(cheap, {.loader = {.threads = 2}}).memory_bytes() >= 10 * block_bytes(sizeof(int64_t)); }));
  EXPECT_EQ(check(cheap, {.loader = {.threads = 2, .deterministic = false}}).memory_bytes(),
            5 * block_bytes(sizeof(int64_t)));
}

TEST(ForecastMemory, ACacheKeepsWhatAFilterLetsPass) {
  const auto kept = [](const Dataset& dataset) {
    const CheckReport report = check(dataset | cache() | batch(8), {});
    for (const MemoryPart& part : report.memory) {
      if (part.what == "cache() keeps") return static_cast<double>(part.bytes);
    }
    return 0.0;
  };
  const auto quarter = filter([](const Tensor& row) { return row.as<uint8_t>()[0] % 4 == 0; }, {.name = "quarter"});
  EXPECT_NEAR(kept(rows(256) | quarter) / kept(rows(256)), 0.25, 0.12);
  EXPECT_THAT(check(rows(256) | quarter | cache() | batch(8), {}).memory, Not(named("cache() makes ahead")))
      << "what it makes ahead is what it keeps";
}

auto naps(bool blocking) {
  const auto nap = [](int64_t x) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    return x;
  };
  return map(nap, {.output = {{"", i64, {}}}, .name = "nap", .blocking = blocking});
}

// Both in the time that an element takes.
struct Times {
  double first_batch, prepared;
};

Times times_of(const Dataset& dataset, const LoaderOptions& options) {
  const CheckReport report = check(dataset | batch(16), {.loader = options});
  const double element_s = 1e-9 * report.element_ns;
  return {*report.first_batch_s / element_s, report.prepared->seconds / element_s};
}

TEST(ForecastTimes, ManyElementsWaitAtOnce) {
  const Dataset declared = range(100'000) | naps(true), detected = range(100'000) | naps(false);
  const auto is_near = [](double value, double expected, double by) { return std::abs(value - expected) < by; };
  EXPECT_TRUE(is_so_in_one_run([&] {  // All of its rows at once; or what they compute.
    const Times told = times_of(declared, {.threads = 2});
    return is_near(told.first_batch, 1, 0.5) && is_near(told.prepared, 100'000 / 256, 5'000);
  }));
  EXPECT_TRUE(is_so_in_one_run([&] {  // A few tasks, and then all.
    const Times seen = times_of(detected, {.threads = 2});
    return is_near(seen.first_batch, 8 / 2 + 1, 2) && is_near(seen.prepared, 100'000 / 256, 5'000);
  }));
  EXPECT_NEAR(times_of(detected, {.threads = 1}).prepared, 100'000, 1) << "one thread may be meant to be the only one";
  EXPECT_TRUE(is_so_in_one_run(
      [&] { return is_near(times_of(declared, {.threads = 2, .io_threads = 4}).prepared, 100'000 / 4, 8'000); }));
}

TEST(ForecastTimes, TheFirstBatchIsCopiedIntoNewMemory) {
  const std::vector<uint8_t> values(1 << 20);
  const auto view = [&values](int64_t) { return Tensor::view(values.data(), u8, {1 << 20}); };
  const Dataset large = range(1000) | map(view, {.output = {{"", u8, {1 << 20}}}}) | batch(16);
  EXPECT_TRUE(is_so_in_one_run([&] {
    const CheckReport told = check(large, {.loader = {.threads = 2}});
    return *told.first_batch_s > 3 * 16 * told.element_ns * 1e-9;
  })) << "to give the views takes next to nothing";
}

}  // namespace
}  // namespace headpond::internal

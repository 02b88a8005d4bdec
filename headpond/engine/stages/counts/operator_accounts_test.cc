// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "headpond/engine/executor/counting_internal.h"
#include "headpond/engine/stages/counts/operator_accounts_internal.h"
#include "headpond/engine/testing/loader_test_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kLargeBytes = 300'000, kLargeBlock = kLargeBytes + 64;  // Bytes of an element, and of its block.
constexpr int64_t kNearly = 64 << 10;                                     // What a peak may be off.
const MapOptions kAnyLength{.output = {{"", DType::u8, {kUnknown}}}};

Element large_one(const Element&) { return {Tensor::empty(DType::u8, {kLargeBytes})}; }
Element handed_on(const Element& element) { return element; }

OperatorMemory memory_of(const LoaderStats& stats, const std::string& op, size_t number = 0) {
  for (const OperatorMemory& one : stats.memory) {
    if (one.op == op && number-- == 0) return one;
  }
  ADD_FAILURE() << "no " << op;
  return {};
}

int64_t sum_of_memory(const LoaderStats& stats) {
  return std::accumulate(stats.memory.begin(), stats.memory.end(), stats.memory_held,
                         [](int64_t sum, const OperatorMemory& one) { return sum + one.bytes; });
}

std::vector<Batch> take_some(Loader& loader, size_t count) {
  std::vector<Batch> batches;
  for (size_t i = 0; i < count; ++i) batches.push_back(loader.next().value());
  return batches;
}

class OperatorAccountsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kCounts) GTEST_SKIP() << "this build counts nothing";
  }
};

TEST_F(OperatorAccountsTest, TheOperatorThatAllocatesIsTheOneThatHolds) {
  Loader loader(range(100) | map(&large_one, kAnyLength) | map(&handed_on, kAnyLength), {.threads = 0, .run_ahead = 8});
  const Batch first = loader.next().value();
  const LoaderStats stats = loader.stats();
  ASSERT_EQ(stats.memory.size(), 3U);
  EXPECT_EQ(memory_of(stats, "range").peak, 0);
  EXPECT_GE(memory_of(stats, "map").peak, kLargeBlock - kNearly);
  EXPECT_EQ(memory_of(stats, "map").stage, "range|map|map");
  EXPECT_EQ(memory_of(stats, "map", 1).peak, 0) << "it only hands on";
}

TEST_F(OperatorAccountsTest, ABatchIsTheProgramsUntilItDropsIt) {
  Loader loader(range(100) | map(&large_one, kAnyLength) | batch(4), {.threads = 0, .run_ahead = 1});
  std::optional held = take_some(loader, 3);
  EXPECT_EQ(loader.stats().memory_held, 3 * (4 * kLargeBytes + 64));
  held.reset();
  const LoaderStats stats = loader.stats();
  EXPECT_EQ(stats.memory_held, 0);
  EXPECT_NEAR(static_cast<double>(stats.memory_held_peak), 3 * (4 * kLargeBytes + 64), kNearly);
  EXPECT_GE(memory_of(stats, "map").peak, 4 * kLargeBlock - kNearly) << "its rows wait until the batch is stacked";
  EXPECT_GE(memory_of(stats, "batch").peak, 4 * kLargeBytes - kNearly);
}

TEST_F(OperatorAccountsTest, RowsThatAreWrittenInPlaceAreTheBatchs) {
  const MapOptions fixed{.output = {{"", DType::u8, {kLargeBytes}}}};
  Loader loader(range(100) | map(&large_one, fixed) | batch(4), {.threads = 2});
  const std::vector<Batch> held = take_some(loader, 3);
  EXPECT_EQ(loader.stats().memory_held, 3 * (4 * kLargeBytes + 64));
  EXPECT_GE(memory_of(loader.stats(), "batch").peak, 4 * kLargeBytes - kNearly);
}

TEST_F(OperatorAccountsTest, WhatIsHeldAddsUpToTheMemoryInUse) {
  const MapOptions batches{.output = {{"", DType::u8, {kUnknown, kUnknown}}}};
  for (const int threads : {0, 2}) {
    Loader loader(range(60) | map(&large_one, kAnyLength) | cache() | batch(2) | map(&handed_on, batches) | shuffle(3),
                  {.threads = threads, .memory = 40'000'000});
    const std::vector<Batch> held = take_some(loader, 5);
    EXPECT_TRUE(becomes_true([&] {  // A block is up to a quarter larger than what is in it.
      const LoaderStats stats = loader.stats();
      const auto all = static_cast<double>(sum_of_memory(stats)), used = static_cast<double>(stats.memory_in_use);
      return all <= used && all > 0.79 * used;
    })) << threads;
    EXPECT_GT(sum_of_memory(loader.stats()), loader.stats().memory_held) << "control: operators hold something as well";
  }
}

TEST_F(OperatorAccountsTest, ACacheHoldsWhatItKeeps) {
  constexpr int64_t kElements = 10;
  Loader loader(range(kElements) | map(&large_one, kAnyLength) | cache() | map(&handed_on, kAnyLength),
                {.epochs = 2, .threads = 0});
  for (const int64_t epoch : {0, 1}) {
    {
      const std::vector<Batch> held = take_some(loader, kElements);
      const LoaderStats stats = loader.stats();
      EXPECT_EQ(memory_of(stats, "cache").bytes, kElements * kLargeBlock) << epoch;
      EXPECT_EQ(stats.memory_held, 0) << "the program only sees them";
    }
    EXPECT_EQ(memory_of(loader.stats(), "cache").bytes, kElements * kLargeBlock) << epoch;
    EXPECT_EQ(memory_of(loader.stats(), "map").bytes, 0);
  }
}

TEST_F(OperatorAccountsTest, ACacheOfAStreamHoldsWhatItKeeps) {
  constexpr int64_t kElements = 10;
  Loader loader(generated(kElements) | map(&large_one, kAnyLength) | cache(), {.threads = 0});
  while (loader.next()) {
  }
  EXPECT_EQ(memory_of(loader.stats(), "cache").bytes, kElements * kLargeBlock);
}

TEST_F(OperatorAccountsTest, OperatorsOfAStreamHaveTheirOwn) {
  Loader loader(generated(50) | map(&large_one, kAnyLength) | batch(4), {.threads = 1});
  const std::vector<Batch> held = take_some(loader, 3);
  const LoaderStats stats = loader.stats();
  EXPECT_EQ(memory_of(stats, "from_generator").peak, 0);
  EXPECT_GE(memory_of(stats, "map").peak, kLargeBlock - kNearly);
  EXPECT_GE(memory_of(stats, "batch").peak, 4 * kLargeBytes - kNearly);
  EXPECT_EQ(memory_of(stats, "map").stage, "from_generator|map");
  EXPECT_EQ(stats.memory_held, 3 * (4 * kLargeBytes + 64));
}

TEST_F(OperatorAccountsTest, WhatFunctionsMakeIsTheirOperators) {
  const auto inner = [](const Element& element) {
    return range(element[size_t{0}].item<int64_t>() % 3 + 1) | map(&large_one, kAnyLength);
  };
  Loader loader(range(20) | flat_map(inner, {.output = kAnyLength.output}), {.threads = 0});
  const std::vector<Batch> held = take_some(loader, 3);
  EXPECT_EQ(loader.stats().memory_held, 3 * kLargeBlock);
  EXPECT_GE(memory_of(loader.stats(), "flat_map").peak, kLargeBlock - kNearly);
}

}  // namespace
}  // namespace headpond::internal

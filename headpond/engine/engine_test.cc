// SPDX-License-Identifier: Apache-2.0

#include "headpond/dataset/bases/pointwise.h"
#include "headpond/engine/testing/engine_test_internal.h"
#include "headpond/engine/testing/plan_run_test_internal.h"

namespace headpond::internal {
namespace {

TEST(Engine, StaysBelowItsMemoryAndCountsWhatTheProgramHolds) {
  constexpr int64_t kBatch = 100 * 8, kMemory = 20 * kBatch;
  const Dataset dataset = range(100'000) | map([](int64_t x) { return x; }) | batch(100);
  Loader loader(dataset, {.threads = 2, .memory = kMemory});
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(loader.next());
  EXPECT_LE(loader.stats().memory_peak, kMemory + 2 * kBatch);
  std::vector<Batch> held;
  held.reserve(30);
  for (int i = 0; i < 30; ++i) held.push_back(std::move(*loader.next()));
  EXPECT_GE(loader.stats().memory_in_use, 30 * kBatch) << "more than the memory, and the program goes on";
  held.clear();
  EXPECT_TRUE(becomes_true([&] { return loader.stats().memory_in_use <= kMemory; }));
}

TEST(Engine, TheMostMemoryHasBatchesThatAreStackedWhenTheirRowsAreMade) {
  constexpr int64_t kRow = 10'000;
  const std::vector<uint8_t> values(kRow);  // Rows are no memory of the Loader's.
  const auto row = [&values](int64_t) { return Tensor::view(values.data(), u8, {kRow}); };
  const Dataset stacked = range(1000) | map(row, {.output = {{"", u8, {kUnknown}}}}) | padded_batch(8);
  Loader loader(stacked, {.threads = 1, .run_ahead = 1});
  const auto held = loader.next();
  ASSERT_TRUE(held);
  ASSERT_TRUE(becomes_true([&] { return loader.stats().stages.at(0).ready == 1; }));
  const LoaderStats stats = loader.stats();
  EXPECT_GE(stats.memory_in_use, 2 * 8 * kRow);
  EXPECT_GE(stats.memory_peak, stats.memory_in_use);
}

TEST(Engine, BatchesThatAreCheapAreMadeByWhoAsks) {
  // A busy machine may take the processor away in the middle of a batch, which then looks dear: another Loader tries.
  const auto is_inline_soon = [] {
    Loader cheap(range(1 << 30) | batch(8), {.threads = 2});
    for (int i = 0; i < 100; ++i) {
      if (!cheap.next()) return false;
      if (cheap.stats().inline_now) return true;
    }
    return false;
  };
  EXPECT_TRUE(becomes_true(is_inline_soon));
  Loader alone(range(1 << 30) | batch(8), {.threads = 2, .consumer_helps = false});
  const Dataset costly = range(1 << 30) | map([](int64_t x) {
                           busy_us(200);
                           return x;
                         }) |
                         batch(8);
  Loader slow(costly, {.threads = 2});
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(alone.next());
    ASSERT_TRUE(slow.next());
    EXPECT_FALSE(alone.stats().inline_now) << "control: who asks must not work";
    EXPECT_FALSE(slow.stats().inline_now) << "control: these are not cheap";
  }
}

TEST(Engine, NoMoreThreadsWorkAtOnceThanItMayUse) {
  for (const int threads : {1, 2}) {
    const auto crowd = std::make_shared<Crowd>();
    const Dataset dataset = range(300) | map([crowd](int64_t x) {
                              crowd->enter();
                              busy_us(20);
                              crowd->leave();
                              return x;
                            }) |
                            batch(4);
    EXPECT_EQ(loaded(dataset, {.threads = threads}).size(), 75U);
    EXPECT_LE(crowd->most, threads) << "the program's thread included";
  }
  const auto crowd = std::make_shared<Crowd>();
  const Dataset dataset = range(12) | map([crowd](int64_t x) {
                            if (x < 3) crowd->meet(3);
                            return x;
                          });
  EXPECT_EQ(loaded(dataset, {.threads = 4}).size(), 12U);
  EXPECT_GE(crowd->most, 3) << "control: as many as it may use do work at once";
}

// What an operator reads with a Loader of its own is not held where the operator is restored.
class ReadsWithALoader final : public Node {
 public:
  explicit ReadsWithALoader(const Dataset& input) : Node(facts_over(input.node(), "reads", "", input.spec())) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    for (const int threads : {0, 2}) EXPECT_EQ(loaded(range(7) | batch(2), {.threads = threads}).size(), 4U);
    return input().bind(binding);
  }
};

TEST(Engine, ALoaderWithinARestoreIsItsOwn) {
  Watchdog watchdog;
  watchdog.in("a Loader within a restore");
  const Dataset dataset(std::make_shared<ReadsWithALoader>(range(10)));
  Loader loader(dataset, {.threads = 2});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(loader.next());
  auto restored = Loader::restored(dataset, {.threads = 2}, loader.state());
  ASSERT_TRUE(restored);
  EXPECT_EQ(rest_of(*restored).size(), 7U);
}

TEST(Engine, AProgramMayMoveFromThreadToThread) {
  Loader loader(range(400) | map([](int64_t x) { return x; }) | batch(2), {.threads = 2});
  for (int i = 0; i < 20; ++i) {
    std::thread([&] {
      busy_us(i % 2 == 0 ? 3000 : 0);
      for (int k = 0; k < 10; ++k) ASSERT_TRUE(loader.next());
      pause_ms(1);
    }).join();
  }
  EXPECT_TRUE(at_end(loader.next()));
}

}  // namespace
}  // namespace headpond::internal

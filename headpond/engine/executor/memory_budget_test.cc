// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "headpond/engine/executor/memory_budget_internal.h"

namespace headpond::internal {
namespace {

TEST(MemoryBudget, WhatIsReservedReadyOrHeldLeavesLessRoom) {
  MemoryBudget budget(1000);
  EXPECT_TRUE(budget.fits(1000));
  EXPECT_FALSE(budget.fits(1001));
  budget.reserve(300);
  EXPECT_TRUE(budget.fits(700));
  EXPECT_FALSE(budget.fits(701));
  budget.release(300);
  budget.add_ready(400);
  EXPECT_TRUE(budget.fits(600));
  EXPECT_FALSE(budget.fits(601));
  budget.remove_ready(400);
  EXPECT_TRUE(budget.fits(1000));
}

TEST(MemoryBudget, LoadersOfOnePoolHaveEqualPartsOfIt) {
  const auto pool = std::make_shared<BufferPool>(1000, 1000);
  const auto group = std::make_shared<SharedMemory>(1000, pool);
  const MemoryBudget first(group);
  EXPECT_EQ(first.part_of(120), 120);
  {
    const MemoryBudget second(group), other(std::make_shared<SharedMemory>(1000, pool)), elsewhere(1000);
    EXPECT_EQ(first.part_of(120), 30) << "half of a group's half";
    EXPECT_EQ(second.part_of(120), 30);
    EXPECT_EQ(other.part_of(120), 60);
    EXPECT_EQ(elsewhere.part_of(120), 120) << "control: a pool of its own";
  }
  EXPECT_EQ(first.part_of(120), 120) << "the others are gone";
}

TEST(MemoryBudget, WhatTheProgramHoldsCountsUntilItLetsGo) {
  MemoryBudget budget(1 << 20);
  BufferRef held = budget.pool().allocate(500'000);
  EXPECT_GE(budget.in_use(), 490'000);
  EXPECT_FALSE(budget.fits(600'000));
  budget.add_ready(100'000);
  EXPECT_LT(budget.in_use(), 700'000) << "what is ready lies in the pool, and counts once";
  budget.remove_ready(100'000);
  budget.note_peak();
  held = {};
  EXPECT_TRUE(budget.fits(1'000'000));
  EXPECT_GE(budget.peak(), 490'000);
}

TEST(MemoryBudget, SumsBeyond64BitsDoNotFit) {
  MemoryBudget budget(INT64_MAX);
  budget.reserve(INT64_MAX - 10);
  EXPECT_FALSE(budget.fits(INT64_MAX));
  EXPECT_TRUE(budget.fits(10));
}

TEST(MemoryBudget, AShortageIsToldOnce) {
  MemoryBudget budget(10);
  EXPECT_TRUE(budget.fits(10));
  EXPECT_FALSE(budget.take_shortage());
  EXPECT_FALSE(budget.fits(11));
  EXPECT_TRUE(budget.take_shortage());
  EXPECT_FALSE(budget.take_shortage());
}

TEST(MemoryBudget, ThreadsMayCountAtOnce) {
  MemoryBudget budget(1 << 20);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10'000; ++k) {
        budget.reserve(3);
        budget.add_ready(2);
        budget.release(3);
        budget.remove_ready(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.reserved(), 0);
  EXPECT_EQ(budget.ready(), 40'000);
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "headpond/base/thread.h"
#include "headpond/queue/sync/wait_cell_internal.h"

namespace headpond {
namespace {

TEST(WaitCell, CountsAndSums) {
  WaitCell cell;
  EXPECT_EQ(cell.quantile_ns(0.5), 0) << "none yet";
  cell.add(5);
  cell.add(7);
  EXPECT_EQ(cell.count(), 2);
  EXPECT_EQ(cell.total_ns(), 12);
}

TEST(WaitCell, AWaiterThatGoesOnWaitingCountsOnce) {
  WaitCell cell;
  cell.add(1000);
  cell.add(3000, false);
  EXPECT_EQ(cell.count(), 1);
  EXPECT_EQ(cell.total_ns(), 4000);
}

TEST(WaitCell, TellsATypicalWaitAndALongOne) {
  WaitCell cell;
  for (int i = 0; i < 98; ++i) cell.add(1'000);
  for (int i = 0; i < 2; ++i) cell.add(1'000'000);
  EXPECT_GE(cell.quantile_ns(0.5), 1'000);
  EXPECT_LE(cell.quantile_ns(0.5), 1'125);
  EXPECT_GE(cell.quantile_ns(0.99), 1'000'000);
  EXPECT_LE(cell.quantile_ns(0.99), 1'125'000);
}

TEST(WaitCell, WaitsWithTheLockAndWithoutCountTogether) {
  WaitCell cell;
  for (int i = 0; i < 60; ++i) cell.add(1'000);
  for (int i = 0; i < 40; ++i) cell.add_without_lock(1'000'000, false);
  EXPECT_EQ(cell.count(), 60);
  EXPECT_EQ(cell.total_ns(), 60 * 1'000 + 40 * 1'000'000);
  EXPECT_LE(cell.quantile_ns(0.6), 1'125);
  EXPECT_GE(cell.quantile_ns(0.61), 1'000'000);
}

TEST(WaitCell, ManyThreadsWriteAtOnce) {
  constexpr int kEach = 20'000;
  WaitCell cell;
  std::vector<Thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back("waiter", [&] {
      for (int i = 0; i < kEach; ++i) cell.add_without_lock(2);
    });
  }
  for (int i = 0; i < kEach; ++i) cell.add(2);  // One of them has the lock.
  for (Thread& thread : threads) thread.join();
  EXPECT_EQ(cell.count(), 5 * kEach);
  EXPECT_EQ(cell.total_ns(), 10 * kEach);
  EXPECT_EQ(cell.quantile_ns(1), 2);
}

}  // namespace
}  // namespace headpond

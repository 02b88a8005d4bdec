// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "headpond/queue/sync/owner_cell_internal.h"

namespace headpond {
namespace {

struct Seen {
  const OwnerCell* cell = nullptr;
  const void* name = nullptr;
};

Seen seen_by_a_thread() {
  Seen seen;
  std::thread([&] { seen = {&OwnerCell::of_this_thread(), OwnerCell::this_thread()}; }).join();
  return seen;
}

TEST(OwnerCell, AThreadKeepsItsCell) {
  OwnerCell& cell = OwnerCell::of_this_thread();
  EXPECT_TRUE(cell.may_own);
  EXPECT_EQ(cell.inside.load(), nullptr);
  EXPECT_EQ(&OwnerCell::of_this_thread(), &cell);
}

TEST(OwnerCell, ThreadsThatLiveAtOnceHaveDifferentCellsAndNames) {
  const OwnerCell& own = OwnerCell::of_this_thread();
  const Seen other = seen_by_a_thread();
  EXPECT_NE(other.cell, &own);
  EXPECT_NE(other.name, OwnerCell::this_thread());
}

TEST(OwnerCell, CellsOfThreadsThatEndedAreUsedAgainAndAreEmpty) {
  constexpr int kThreads = 100;
  std::set<const OwnerCell*> cells;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([&] {
      OwnerCell& cell = OwnerCell::of_this_thread();
      EXPECT_EQ(cell.inside.load(), nullptr);
      cell.inside = reinterpret_cast<const BiasedLock*>(&cell);
      cells.insert(&cell);
    }).join();
  }
  EXPECT_LT(cells.size(), kThreads / 10);
}

}  // namespace
}  // namespace headpond

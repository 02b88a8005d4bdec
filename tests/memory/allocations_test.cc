// SPDX-License-Identifier: Apache-2.0
#include "tests/memory/allocations.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>

namespace headpond::test {
namespace {

void* volatile kept = nullptr;  // Or the compiler leaves allocations out.

bool can_allocate() {
  kept = std::malloc(100);
  const bool got = kept != nullptr;
  std::free(kept);
  return got;
}

TEST(FailingAllocation, TheNthFailsAndAllLaterOnesIfAsked) {
  for (const auto failing : {Failing::once, Failing::from_then_on}) {
    bool first = false, second = false, third = false, told = false;
    {
      const FailingAllocation no_memory(2, failing);
      first = can_allocate();
      told = no_memory.has_failed();
      second = can_allocate();
      third = can_allocate();
    }
    EXPECT_TRUE(first && !told && !second);
    EXPECT_EQ(third, failing == Failing::once);
    EXPECT_TRUE(can_allocate());
  }
}

TEST(FailingAllocation, OfOperatorNewThrows) {
  bool threw = false;
  {
    const FailingAllocation no_memory(1, Failing::once);
    try {
      kept = ::operator new(100);
    } catch (const std::bad_alloc&) {
      threw = true;
    }
  }
  EXPECT_TRUE(threw);
}

TEST(LiveAllocations, AreThoseThatWereNotFreed) {
  const int64_t before = live_allocations();
  auto one = std::make_unique<int>(1);
  void* more = std::aligned_alloc(64, 64);
  more = std::realloc(more, 100000);
  kept = more;
  const int64_t then = live_allocations();
  std::free(more);
  one.reset();
  const int64_t after = live_allocations();
  EXPECT_EQ(then, before + 2);
  EXPECT_EQ(after, before);
}

TEST(PeakBytes, AreThoseThatWereLiveAtOnce) {
  std::free(std::malloc(1 << 20));
  const PeakBytes peak;
  kept = std::malloc(1000);
  kept = std::realloc(kept, 5000);
  std::free(kept);
  kept = std::malloc(3000);
  std::free(kept);
  const int64_t most = peak.bytes();
  EXPECT_GE(most, 5000);
  EXPECT_LT(most, 8000);
}

}  // namespace
}  // namespace headpond::test

// SPDX-License-Identifier: Apache-2.0
// What the scheduler explores and what it does not, by the usual small programs of two threads.
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "headpond/queue/sync/scheduled_atomic_test_internal.h"

namespace headpond::internal {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
using Results = std::set<std::pair<int, int>>;

// What two threads read in 2,000 schedules. Each gets its own flag and the other's.
template <class Body>
Results results_of(Body body, const Mistakes& mistakes = {}) {
  Scheduler scheduler(2);
  Results results;
  for (uint64_t seed = 0; seed < 2'000; ++seed) {
    ScheduledAtomic<int> x(0);
    ScheduledAtomic<int> y(0);
    std::pair<int, int> read;
    const auto outcome = scheduler.run(
        seed, mistakes, {[&] { read.first = body(0, x, y); }, [&] { read.second = body(1, y, x); }}, [] {}, [] {});
    EXPECT_FALSE(outcome.stuck);
    results.insert(read);
  }
  return results;
}

TEST(Scheduling, AStoreMayBecomeVisibleAfterALaterLoad) {
  const auto body = [](int, auto& own, auto& other) {
    own.store(1, kRelaxed);
    return other.load(kRelaxed);
  };
  EXPECT_EQ(results_of(body), (Results{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(Scheduling, AReadModifyWriteMakesStoresVisible) {
  const auto body = [](int, auto& own, auto& other) {
    own.exchange(1, kRelaxed);
    return other.load(kRelaxed);
  };
  EXPECT_EQ(results_of(body), (Results{{0, 1}, {1, 0}, {1, 1}}));
}

TEST(Scheduling, AMembarrierOfOneSideIsEnough) {
  const auto body = [](int thread, auto& own, auto& other) {
    own.store(1, kRelaxed);
    if (thread == 0) Scheduler::membarrier();
    return other.load(kRelaxed);
  };
  EXPECT_EQ(results_of(body), (Results{{0, 1}, {1, 0}, {1, 1}}));
  EXPECT_TRUE(results_of(body, {.lame_fence = true}).contains({0, 0}));
}

TEST(Scheduling, AThreadSeesItsOwnStoresAndAnothersInTheirOrder) {
  const auto body = [](int thread, auto& own, auto& other) {
    if (thread == 0) {
      own.store(1, kRelaxed);
      other.store(1, kRelaxed);
      return own.load(kRelaxed);
    }
    const int late = own.load(kRelaxed);
    return 2 * late + other.load(kRelaxed);
  };
  EXPECT_EQ(results_of(body), (Results{{1, 0}, {1, 1}, {1, 3}}));
}

TEST(Scheduling, TwoMutexesInTurnsAreADeadlockThatIsFound) {
  Scheduler scheduler(2);
  int64_t stuck = 0;
  int64_t quiet = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    bool locked[] = {false, false};
    const auto both = [&locked](int first) {
      Scheduler::lock(locked[first]);
      Scheduler::lock(locked[1 - first]);
      Scheduler::unlock(locked[first]);
      Scheduler::unlock(locked[1 - first]);
    };
    stuck += scheduler
                     .run(
                         seed, {}, {[&] { both(0); }, [&] { both(1); }}, [&] { ++quiet; }, [] {})
                     .stuck
                 ? 1
                 : 0;
  }
  EXPECT_GT(stuck, 0);
  EXPECT_LT(stuck, 500);
  EXPECT_EQ(stuck, quiet);
}

TEST(Scheduling, ADeadlinePassesWhenNobodyElseCanGoOn) {
  Scheduler scheduler(1);
  uint32_t word = 7;
  const Scheduler::Body sleep = [&word] {
    EXPECT_EQ(Scheduler::futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 7, 5'000'000'000), 0);
  };
  EXPECT_FALSE(scheduler
                   .run(
                       1, {}, {sleep}, [] { FAIL(); }, [] {})
                   .stuck);
}

TEST(Scheduling, ASleeperMayWakeForNoReasonAndMustLookAgain) {
  Scheduler scheduler(2);
  for (const bool looks_again : {false, true}) {
    int64_t early = 0;
    for (uint64_t seed = 0; seed < 500; ++seed) {
      uint32_t word = 0;
      const auto sleep = [&word, &early, looks_again] {
        do Scheduler::futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, INT64_MAX);
        while (looks_again && word == 0);
        early += word == 0 ? 1 : 0;
      };
      const auto wake = [&word] {
        for (int i = 0; i < 10; ++i) Scheduler::point();
        word = 1;
        Scheduler::futex(&word, FUTEX_WAKE_PRIVATE, 1, 0);
      };
      scheduler.run(
          seed, {}, {sleep, wake}, [] { FAIL(); }, [] {});
    }
    EXPECT_EQ(early > 0, !looks_again);
  }
}

TEST(Scheduling, WhoNeverEndsIsStuck) {
  Scheduler scheduler(1);
  const Scheduler::Body spin = [] {
    while (true) {
      Scheduler::point();
      Scheduler::pause();
    }
  };
  EXPECT_TRUE(scheduler
                  .run(
                      1, {}, {spin}, [] {}, [] {})
                  .stuck);
}

}  // namespace
}  // namespace headpond::internal

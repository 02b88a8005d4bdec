// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/sync/biased_lock_internal.h"

namespace headpond::internal {
namespace {

using BiasedLocks = QueueTest;

WaitResult enter(BiasedLock& lock, const Wait& wait = {}, bool cancellable = true) {
  WaitContext context(wait);
  return lock.enter(context, cancellable);
}
// A blocked holder counts.
void until_waiting_for(const BiasedLock& lock, int64_t count) {
  eventually([&] { return lock.waiters() + (lock.is_blocked() ? 1 : 0) == count; });
}

TEST_F(BiasedLocks, AFreeLockIsEnteredAgainAndAgain) {
  BiasedLock lock;
  for (int i = 0; i < 100; ++i) {  // Soon as the owner.
    ASSERT_TRUE(lock.try_enter());
    lock.leave();
  }
  EXPECT_FALSE(lock.is_busy());
}

TEST_F(BiasedLocks, ATakenLockIsRefused) {
  BiasedLock lock;
  for (const int rounds : {1, 50}) {
    for (int i = 0; i < rounds; ++i) {
      ASSERT_TRUE(lock.try_enter());
      if (i + 1 < rounds) lock.leave();
    }
    lock.set_blocked(true);
    std::thread other([&] {
      EXPECT_FALSE(lock.try_enter());
      EXPECT_EQ(enter(lock, {.timeout = milliseconds(1)}), WaitResult::timed_out);
    });
    other.join();
    lock.set_blocked(false);
    lock.leave();
  }
}

// A thread that is inside one lock as its owner owns another one too: its cell names only the first.
TEST_F(BiasedLocks, AThreadInsideTwoLocksThatItOwnsKeepsBothToItself) {
  BiasedLock outer;
  BiasedLock inner;
  for (int i = 0; i < 50; ++i) {
    for (BiasedLock* const lock : {&outer, &inner}) {
      ASSERT_TRUE(lock->try_enter());
      lock->leave();
    }
  }
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(outer.try_enter());
    ASSERT_TRUE(inner.try_enter());
    std::thread([&] {
      for (BiasedLock* const lock : {&outer, &inner}) {
        EXPECT_FALSE(lock->try_enter());
        EXPECT_EQ(enter(*lock, {.timeout = std::chrono::microseconds(10)}), WaitResult::timed_out);
      }
    }).join();
    EXPECT_FALSE(outer.try_enter()) << "again, from within";
    inner.leave();
    outer.leave();
  }
  EXPECT_FALSE(outer.is_busy());
  EXPECT_FALSE(inner.is_busy());
}

// A cell is used again: the new thread is the owner, as nobody else can be inside.
TEST_F(BiasedLocks, AThreadThatEndsLeavesALockThatOthersCanEnter) {
  BiasedLock lock;
  for (int thread = 0; thread < 20; ++thread) {
    std::thread([&] {
      for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(enter(lock), WaitResult::go);
        lock.leave();
      }
    }).join();
  }
  EXPECT_EQ(enter(lock), WaitResult::go);
  lock.leave();
}

// What one thread writes under the lock the next one must see; a tear or a lost addition would show.
TEST_F(BiasedLocks, OnlyOneThreadIsInsideHoweverOwnersChange) {
  constexpr int kThreads = 4;
  constexpr int64_t kEach = 2000;
  BiasedLock lock;
  int64_t sum = 0;
  int64_t inside = 0;
  int64_t broken = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int64_t i = 0; i < kEach; ++i) {
        // Rows of one thread make owners; the pauses let others come.
        if (i % (100 * (thread + 1)) == 0) std::this_thread::yield();
        ASSERT_EQ(enter(lock), WaitResult::go);
        broken += inside++ == 0 ? 0 : 1;
        ++sum;
        --inside;
        lock.leave();
      }
    });
  }
  for (auto& each : threads) each.join();
  EXPECT_EQ(sum, kThreads * kEach);
  EXPECT_EQ(broken, 0);
  EXPECT_FALSE(lock.is_busy());
}

TEST_F(BiasedLocks, AnOwnerThatSleepsOutsideIsRevoked) {
  BiasedLock lock;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(lock.try_enter());
    lock.leave();
  }
  std::thread other([&] {
    EXPECT_EQ(enter(lock), WaitResult::go);
    lock.leave();
  });
  other.join();
  EXPECT_EQ(enter(lock), WaitResult::go);
  lock.leave();
}

TEST_F(BiasedLocks, WaitersAreServedInOrderOfArrival) {
  for (const int rounds : {1, 40}) {  // A plain holder, and an owner.
    BiasedLock lock;
    for (int i = 1; i < rounds; ++i) {
      ASSERT_TRUE(lock.try_enter());
      lock.leave();
    }
    ASSERT_TRUE(lock.try_enter());
    lock.set_blocked(true);
    std::vector<int> order;
    std::vector<std::thread> threads;
    for (int i = 0; i < 5; ++i) {
      threads.emplace_back([&, i] {
        ASSERT_EQ(enter(lock), WaitResult::go);
        order.push_back(i);
        lock.leave();
      });
      until_waiting_for(lock, i + 2);
    }
    lock.set_blocked(false);
    lock.leave();
    for (auto& each : threads) each.join();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  }
}

TEST_F(BiasedLocks, AWaitEndsByTimeoutStopAndCancel) {
  BiasedLock lock;
  ASSERT_TRUE(lock.try_enter());
  lock.set_blocked(true);
  std::stop_source stop;
  auto timed = later([&] { return enter(lock, {.timeout = milliseconds(1)}); });
  EXPECT_EQ(timed.get(), WaitResult::timed_out);
  auto stopped = later([&] { return enter(lock, {.stop = stop.get_token()}); });
  until_waiting_for(lock, 2);
  auto cancelled = later([&] { return enter(lock); });
  until_waiting_for(lock, 3);
  auto stays = later([&] {
    const WaitResult result = enter(lock, {}, false);
    lock.leave();
    return result;
  });
  until_waiting_for(lock, 4);
  stop.request_stop();
  EXPECT_EQ(stopped.get(), WaitResult::stopped);
  lock.cancel_waiters();
  EXPECT_EQ(cancelled.get(), WaitResult::cancelled);
  EXPECT_FALSE(is_done(stays));
  lock.set_blocked(false);
  lock.leave();
  EXPECT_EQ(stays.get(), WaitResult::go);
  EXPECT_EQ(lock.waiters(), 0);
}

TEST_F(BiasedLocks, AStopThatCameBeforeEndsTheWaitAtOnce) {
  BiasedLock lock;
  ASSERT_TRUE(lock.try_enter());
  lock.set_blocked(true);
  std::stop_source stop;
  stop.request_stop();
  auto other = later([&] { return enter(lock, {.stop = stop.get_token()}); });
  EXPECT_EQ(other.get(), WaitResult::stopped);
  lock.leave();
}

// A waiter that is granted the lock while it gives up owns it: the lock is never handed to nobody.
TEST_F(BiasedLocks, TimeoutsStopsAndCancelsRaceWithBeingServed) {
  BiasedLock lock;
  int64_t sum = 0;
  int64_t entered = 0;
  std::vector<std::future<int64_t>> counts;
  for (int thread = 0; thread < 4; ++thread) {
    counts.push_back(later([&, thread] {
      int64_t mine = 0;
      for (int i = 0; i < 1500; ++i) {
        const Wait wait{.timeout = std::chrono::microseconds((i * 7 + thread) % 120)};
        if (enter(lock, wait) != WaitResult::go) continue;
        ++sum;
        ++mine;
        if (i % 64 == 0) {
          lock.set_blocked(true);
          std::this_thread::sleep_for(std::chrono::microseconds(50));
          lock.set_blocked(false);
        }
        lock.leave();
        if (i % 100 == 0) lock.cancel_waiters();
      }
      return mine;
    }));
  }
  for (auto& each : counts) entered += each.get();
  EXPECT_EQ(sum, entered);
  EXPECT_FALSE(lock.is_busy());
  EXPECT_TRUE(lock.try_enter() || enter(lock) == WaitResult::go);
}

#if !defined(NDEBUG)

// Each way in and out tells the HolderCheck.
TEST(BiasedLocksDeathTest, EndTheProgramWhenAThreadLeavesWhatAnotherHolds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto left_by_another = [](bool waits) {
    BiasedLock lock;
    if (waits) {
      (void)enter(lock);
    } else {
      (void)lock.try_enter();
    }
    std::thread([&] { lock.leave(); }).join();
  };
  EXPECT_DEATH(left_by_another(false), "does not hold");
  EXPECT_DEATH(left_by_another(true), "does not hold");
}

#endif

}  // namespace
}  // namespace headpond::internal

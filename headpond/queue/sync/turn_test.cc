// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/sync/turn_internal.h"

namespace headpond::internal {
namespace {

using Turns = QueueTest;

Pass enter(Turn& turn, const Wait& wait = {}, bool cancellable = true) {
  Patience patience(wait);
  return turn.enter(patience, cancellable);
}
// A blocked holder counts.
void until_in_line(const Turn& turn, int64_t count) {
  eventually([&] { return turn.line_length() + (turn.is_blocked() ? 1 : 0) == count; });
}

TEST_F(Turns, AFreeTurnIsEnteredAgainAndAgain) {
  Turn turn;
  for (int i = 0; i < 100; ++i) {  // From the ninth time on as the favourite.
    ASSERT_TRUE(turn.try_enter());
    turn.leave();
  }
  EXPECT_FALSE(turn.is_busy());
}

TEST_F(Turns, ATakenTurnIsRefused) {
  Turn turn;
  for (const int rounds : {1, 50}) {
    for (int i = 0; i < rounds; ++i) {
      ASSERT_TRUE(turn.try_enter());
      if (i + 1 < rounds) turn.leave();
    }
    turn.set_blocked(true);
    std::thread other([&] {
      EXPECT_FALSE(turn.try_enter());
      EXPECT_EQ(enter(turn, {.timeout = milliseconds(1)}), Pass::timed_out);
    });
    other.join();
    turn.set_blocked(false);
    turn.leave();
  }
}

// What one thread writes under the turn the next one must see; a tear or a lost addition would show.
TEST_F(Turns, OnlyOneThreadIsInsideHoweverFavouritesChange) {
  constexpr int kThreads = 4;
  constexpr int64_t kEach = 4000;
  Turn turn;
  int64_t sum = 0;
  int64_t inside = 0;
  int64_t broken = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int64_t i = 0; i < kEach; ++i) {
        // Runs of one thread make favourites; the pauses let others come.
        if (i % (100 * (thread + 1)) == 0) std::this_thread::yield();
        ASSERT_EQ(enter(turn), Pass::go);
        broken += inside++ == 0 ? 0 : 1;
        ++sum;
        --inside;
        turn.leave();
      }
    });
  }
  for (auto& each : threads) each.join();
  EXPECT_EQ(sum, kThreads * kEach);
  EXPECT_EQ(broken, 0);
  EXPECT_FALSE(turn.is_busy());
}

TEST_F(Turns, AFavouriteThatSleepsOutsideIsDismissed) {
  Turn turn;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(turn.try_enter());
    turn.leave();
  }
  std::thread other([&] {
    EXPECT_EQ(enter(turn), Pass::go);
    turn.leave();
  });
  other.join();
  EXPECT_EQ(enter(turn), Pass::go);
  turn.leave();
}

TEST_F(Turns, TheLineIsServedInOrderOfArrival) {
  for (const int rounds : {1, 40}) {  // A plain holder, and a favourite.
    Turn turn;
    for (int i = 1; i < rounds; ++i) {
      ASSERT_TRUE(turn.try_enter());
      turn.leave();
    }
    ASSERT_TRUE(turn.try_enter());
    turn.set_blocked(true);
    std::vector<int> order;
    std::vector<std::thread> threads;
    for (int i = 0; i < 5; ++i) {
      threads.emplace_back([&, i] {
        ASSERT_EQ(enter(turn), Pass::go);
        order.push_back(i);
        turn.leave();
      });
      until_in_line(turn, i + 2);
    }
    turn.set_blocked(false);
    turn.leave();
    for (auto& each : threads) each.join();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  }
}

TEST_F(Turns, TheLineCanBeLeftByTimeoutStopAndCancel) {
  Turn turn;
  ASSERT_TRUE(turn.try_enter());
  turn.set_blocked(true);
  std::stop_source stop;
  auto timed = later([&] { return enter(turn, {.timeout = milliseconds(1)}); });
  EXPECT_EQ(timed.get(), Pass::timed_out);
  auto stopped = later([&] { return enter(turn, {.stop = stop.get_token()}); });
  until_in_line(turn, 2);
  auto cancelled = later([&] { return enter(turn); });
  until_in_line(turn, 3);
  auto stays = later([&] { return enter(turn, {}, false); });
  until_in_line(turn, 4);
  stop.request_stop();
  EXPECT_EQ(stopped.get(), Pass::stopped);
  turn.cancel_line();
  EXPECT_EQ(cancelled.get(), Pass::cancelled);
  EXPECT_FALSE(is_done(stays));
  turn.set_blocked(false);
  turn.leave();
  EXPECT_EQ(stays.get(), Pass::go);
  turn.leave();
  EXPECT_EQ(turn.line_length(), 0);
}

TEST_F(Turns, AStopThatCameBeforeLeavesTheLineAtOnce) {
  Turn turn;
  ASSERT_TRUE(turn.try_enter());
  turn.set_blocked(true);
  std::stop_source stop;
  stop.request_stop();
  auto other = later([&] { return enter(turn, {.stop = stop.get_token()}); });
  EXPECT_EQ(other.get(), Pass::stopped);
  turn.leave();
}

// Whoever gets the turn at the very moment when it gives up has the turn: it is never handed to nobody.
TEST_F(Turns, TimeoutsStopsAndCancelsRaceWithBeingServed) {
  Turn turn;
  int64_t sum = 0;
  int64_t entered = 0;
  std::vector<std::future<int64_t>> counts;
  for (int thread = 0; thread < 4; ++thread) {
    counts.push_back(later([&, thread] {
      int64_t mine = 0;
      for (int i = 0; i < 1500; ++i) {
        const Wait wait{.timeout = std::chrono::microseconds((i * 7 + thread) % 120)};
        if (enter(turn, wait) != Pass::go) continue;
        ++sum;
        ++mine;
        if (i % 64 == 0) {
          turn.set_blocked(true);
          std::this_thread::sleep_for(std::chrono::microseconds(50));
          turn.set_blocked(false);
        }
        turn.leave();
        if (i % 100 == 0) turn.cancel_line();
      }
      return mine;
    }));
  }
  for (auto& each : counts) entered += each.get();
  EXPECT_EQ(sum, entered);
  EXPECT_FALSE(turn.is_busy());
  EXPECT_TRUE(turn.try_enter() || enter(turn) == Pass::go);
}

}  // namespace
}  // namespace headpond::internal

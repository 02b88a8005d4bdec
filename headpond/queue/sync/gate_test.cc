// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "headpond/base/random.h"
#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/sync/gate_test_internal.h"

namespace headpond::internal {
namespace {

using Gates = QueueTest;

const Wait kSoon{.timeout = milliseconds(2)};

class TestHost : public WaitHost {
 public:
  std::function<void()> on_begin = [] {};
  std::atomic<int64_t> looks = 0;    // Each after a millisecond in which nothing came.
  std::atomic<int64_t> missing = 0;  // What the last of them was told.

  void begin_wait(Verb) override { on_begin(); }
  void end_wait() override {}
  int64_t alarm(Stall& stall, int64_t position) const override {
    return stall.next_alarm(position, now_ns(), milliseconds(1));
  }
  bool look_into(Stall& stall, Verb, int64_t now_missing) noexcept override {
    stall.alarm = now_ns() + 1'000'000;
    missing = now_missing;
    ++looks;
    return false;
  }
};

TEST_F(Gates, CountsRoomAndWhatCanBeTaken) {
  Gate gate(2, 0);
  EXPECT_EQ(gate.room(), 2);
  EXPECT_EQ(put(gate), WaitResult::go);
  EXPECT_EQ(put(gate), WaitResult::go);
  EXPECT_EQ(put(gate, kNow), WaitResult::timed_out);
  EXPECT_EQ(put(gate, kSoon), WaitResult::timed_out);
  EXPECT_EQ(gate.obtainable(), 2);
  EXPECT_EQ(take(gate), WaitResult::go);
  EXPECT_EQ(put(gate, kNow), WaitResult::go);
  EXPECT_EQ(gate.put_count(), 3);
  EXPECT_EQ(gate.take_count(), 1);
}

TEST_F(Gates, AnOpenGateKeepsItsMinimumAndAClosedOneGivesIt) {
  Gate gate(4, 2);
  EXPECT_EQ(put(gate), WaitResult::go);
  EXPECT_EQ(put(gate), WaitResult::go);
  EXPECT_EQ(take(gate, kNow), WaitResult::timed_out);
  EXPECT_EQ(put(gate), WaitResult::go);
  EXPECT_EQ(take(gate, kNow), WaitResult::go);
  EXPECT_EQ(take(gate, kNow), WaitResult::timed_out);
  auto waits = later([&] { return take(gate); });
  eventually([&] { return gate.waiting_takes() == 1; });
  EXPECT_TRUE(gate.close());
  EXPECT_EQ(waits.get(), WaitResult::go);
  EXPECT_EQ(take(gate), WaitResult::go);
  EXPECT_EQ(take(gate), WaitResult::closed);
}

TEST_F(Gates, GivingBackMakesRoomNegativeUntilItIsTakenAgain) {
  Gate gate(2, 0);
  WaitContext context(kNow);
  ASSERT_EQ(put(gate), WaitResult::go);
  ASSERT_EQ(put(gate), WaitResult::go);
  ASSERT_EQ(gate.begin_take(context), WaitResult::go);
  gate.commit_take(2);
  ASSERT_EQ(put(gate, kNow), WaitResult::go);
  gate.give_back(2);
  gate.end_take();
  EXPECT_EQ(gate.room(), -1);
  EXPECT_EQ(put(gate, kNow), WaitResult::timed_out);
  EXPECT_EQ(take(gate, kNow), WaitResult::go);
  EXPECT_EQ(put(gate, kNow), WaitResult::timed_out);
  EXPECT_EQ(take(gate, kNow), WaitResult::go);
  EXPECT_EQ(put(gate, kNow), WaitResult::go);
}

TEST_F(Gates, ClosingTellsWhoWasFirst) {
  Gate gate(1, 0);
  EXPECT_FALSE(gate.refuses_puts());
  EXPECT_TRUE(gate.close());
  EXPECT_FALSE(gate.close());
  EXPECT_TRUE(gate.is_closed());
  EXPECT_EQ(put(gate), WaitResult::closed);
  EXPECT_EQ(put(gate, kNow), WaitResult::closed);
  gate.close_and_cancel();
  EXPECT_EQ(take(gate), WaitResult::closed);
}

// Longer than a call with timeout 0 gives running calls.
const auto kLongerThanATry = milliseconds(50);

TEST_F(Gates, WithTimeoutZeroTheEndWinsHoweverLongTheLastTakeRuns) {
  Gate gate(4, 0);
  WaitContext context(kNow);
  ASSERT_EQ(put(gate), WaitResult::go);
  ASSERT_EQ(gate.begin_take(context), WaitResult::go);
  gate.commit_take(1);
  EXPECT_EQ(later([&] { return take(gate, kNow); }).get(), WaitResult::timed_out) << "open and empty";
  ASSERT_TRUE(gate.close());
  auto tried = later([&] { return take(gate, kNow); });
  EXPECT_EQ(tried.wait_for(kLongerThanATry), std::future_status::timeout) << "the end is not certain yet";
  gate.end_take();
  EXPECT_EQ(tried.get(), WaitResult::closed);
}

TEST_F(Gates, WithTimeoutZeroTheLastTakeMayGiveElementsBack) {
  Gate gate(4, 0);
  ASSERT_EQ(put(gate), WaitResult::go);
  ASSERT_TRUE(gate.close());
  std::future<WaitResult> tried;
  take_and_give_back(gate, 1, [&] {
    tried = later([&] { return take(gate, kNow); });
    EXPECT_EQ(tried.wait_for(kLongerThanATry), std::future_status::timeout);
  });
  // Not the end, although its time may be over when the lock is free.
  const WaitResult result = tried.get();
  EXPECT_TRUE(result == WaitResult::go || result == WaitResult::timed_out);
}

TEST_F(Gates, WithTimeoutZeroATakeThatRunsForLongIsNotWaitedForWhereElementsAreInside) {
  Gate gate(4, 0);
  WaitContext context(kNow);
  ASSERT_EQ(put(gate), WaitResult::go);
  ASSERT_TRUE(gate.close());
  ASSERT_EQ(gate.begin_take(context), WaitResult::go);
  EXPECT_EQ(later([&] { return take(gate, kNow); }).get(), WaitResult::timed_out);
  gate.end_take();
}

// One that is inside and neither waits nor leaves: it moves many elements.
TEST_F(Gates, ACallWithATimeoutWaitsNoLongerForOneThatRuns) {
  Gate gate(4, 0);
  ASSERT_EQ(put(gate), WaitResult::go);
  WaitContext putting(kNow), taking(kNow);
  ASSERT_EQ(gate.begin_put(putting), WaitResult::go);
  ASSERT_EQ(gate.begin_take(taking), WaitResult::go);
  EXPECT_EQ(later([&] { return put(gate, kSoon); }).get(), WaitResult::timed_out);
  EXPECT_EQ(later([&] { return take(gate, kSoon); }).get(), WaitResult::timed_out);
  auto patient_put = later([&] { return put(gate); });
  auto patient_take = later([&] { return take(gate); });
  EXPECT_EQ(patient_put.wait_for(kLongerThanATry), std::future_status::timeout) << "control: no timeout";
  EXPECT_EQ(patient_take.wait_for(kLongerThanATry), std::future_status::timeout) << "control: no timeout";
  EXPECT_EQ(later([&] { return put(gate, kSoon); }).get(), WaitResult::timed_out) << "after one that waits";
  EXPECT_EQ(later([&] { return take(gate, kSoon); }).get(), WaitResult::timed_out) << "after one that waits";
  gate.end_put();
  gate.end_take();
  EXPECT_EQ(patient_put.get(), WaitResult::go);
  EXPECT_EQ(patient_take.get(), WaitResult::go);
}

TEST_F(Gates, WithTimeoutZeroACloseWinsWhilePutsRun) {
  Gate gate(4, 0);
  WaitContext context(kNow);
  ASSERT_EQ(gate.begin_put(context), WaitResult::go);
  auto closed = later([&] { gate.close_and_cancel(); });
  eventually([&] { return gate.refuses_puts(); });
  EXPECT_EQ(put(gate, kNow), WaitResult::closed);
  gate.end_put();
  closed.get();
}

// The close comes too late for the call's first look and too early to cancel its wait.
TEST_F(Gates, WithTimeoutZeroACloseBetweenTheFirstLookAndTheWaitWins) {
  Gate gate(4, 0);
  WaitContext context(kNow);
  ASSERT_EQ(gate.begin_put(context), WaitResult::go);
  std::future<void> closed;
  TestHost host;
  host.on_begin = [&] {
    closed = later([&] { gate.close_and_cancel(); });
    eventually([&] { return gate.waiting_puts() == 1; });  // It has cancelled the waiters, and waits for the lock.
  };
  EXPECT_EQ(later([&] { return put(gate, kNow, &host); }).get(), WaitResult::closed);
  gate.end_put();
  closed.get();
}

TEST_F(Gates, WithTimeoutZeroAStopEndsTheWaitForTheLastTake) {
  Gate gate(4, 0);
  WaitContext context(kNow);
  ASSERT_EQ(put(gate), WaitResult::go);
  ASSERT_TRUE(gate.close());
  ASSERT_EQ(gate.begin_take(context), WaitResult::go);
  gate.commit_take(1);
  std::stop_source stop;
  auto tried = later([&] { return take(gate, {.timeout = std::chrono::nanoseconds(0), .stop = stop.get_token()}); });
  EXPECT_EQ(tried.wait_for(kLongerThanATry), std::future_status::timeout) << "control: it waits";
  stop.request_stop();
  EXPECT_EQ(tried.wait_for(std::chrono::seconds(60)), std::future_status::ready) << "although the take still runs";
  gate.end_take();
  EXPECT_EQ(tried.get(), WaitResult::stopped);
}

// A second take is what it waits for after the first: not one that has come.
TEST_F(Gates, APutThatNeedsMoreThanOneTakeSaysSoAfterEach) {
  Gate gate(4, 0);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(put(gate), WaitResult::go);
  TestHost host;
  std::atomic<bool> fits = false;
  auto waits = later([&] {
    const Wait for_ever;
    WaitContext context(for_ever, &host);
    EXPECT_EQ(gate.begin_put(context), WaitResult::go);
    const WaitResult waited = gate.await_takes([&] { return fits.load(); }, context);
    gate.end_put();
    return waited;
  });
  for (int i = 0; i < 2; ++i) {
    const int64_t before = host.looks;
    eventually([&] { return host.looks >= before + 2; });  // The first may have begun earlier.
    EXPECT_EQ(host.missing, 1) << "after takes: " << i;
    fits = i == 1;
    EXPECT_EQ(take(gate), WaitResult::go);
  }
  EXPECT_EQ(waits.get(), WaitResult::go);
}

TEST_F(Gates, CancelEndsAPutThatWaitsAndThoseQueuedAfterIt) {
  Gate gate(1, 0);
  ASSERT_EQ(put(gate), WaitResult::go);
  std::vector<std::future<WaitResult>> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(later([&] { return put(gate); }));
  eventually([&] { return gate.waiting_puts() == 4; });
  gate.close_and_cancel();
  for (auto& each : waiting) EXPECT_EQ(each.get(), WaitResult::cancelled);
  EXPECT_EQ(take(gate), WaitResult::go);
  EXPECT_EQ(take(gate), WaitResult::closed);
}

TEST_F(Gates, WaitsAreCountedWithTheirTime) {
  eventually([] {  // Unless the system lets it run too late to wait for long.
    Gate gate(1, 0);
    auto waits = later([&] { return take(gate); });
    eventually([&] { return gate.waiting_takes() == 1; });
    std::this_thread::sleep_for(milliseconds(2));
    EXPECT_EQ(put(gate), WaitResult::go);
    EXPECT_EQ(waits.get(), WaitResult::go);
    EXPECT_EQ(gate.put_waits().count(), 0);
    return gate.take_waits().count() == 1 && gate.take_waits().total_ns() >= 1'000'000;
  });
}

// Each side must see at once what the other did, or sleep and be woken: many sleeps, with timeouts and stops between.
TEST_F(Gates, NoWakeIsLostBetweenTwoSidesThatSleep) {
  for (const int64_t capacity : {1, 3}) {
    Gate gate(capacity, 0);
    constexpr int64_t kCount = 2000;
    auto putter = later([&] {
      headpond::Random random(1);
      for (int64_t done = 0; done < kCount;) {
        const Wait wait{.timeout = random.below(4) == 0 ? std::chrono::nanoseconds(random.below(60'000)) : kForever};
        done += put(gate, wait) == WaitResult::go ? 1 : 0;
        if (random.below(50) == 0) std::this_thread::sleep_for(std::chrono::microseconds(80));
      }
    });
    headpond::Random random(2);
    for (int64_t done = 0; done < kCount;) {
      std::stop_source stop;
      std::jthread stopper;
      if (random.below(100) == 0) stopper = std::jthread([&stop] { stop.request_stop(); });
      done += take(gate, {.stop = stop.get_token()}) == WaitResult::go ? 1 : 0;
      if (random.below(50) == 0) std::this_thread::sleep_for(std::chrono::microseconds(80));
    }
    putter.get();
    EXPECT_EQ(gate.put_count(), gate.take_count());
  }
}

// The gate's way to sleep, alone: park, fence, look again, sleep.
class Sleeper {
 public:
  void post() {
    position_.fetch_add(1, std::memory_order_release);
    asymmetric_fence::light();
    if (parked_.load(std::memory_order_relaxed) && parked_.exchange(false)) signal_.raise();
  }
  // Returns false iff it slept although what it waited for had come.
  bool await(int64_t target, uint64_t delay) {
    constexpr int64_t kLong = 30'000'000'000;
    while (position_.load(std::memory_order_acquire) < target) {
      // Lets the other side in, by chance and, on one CPU, by request.
      for (; delay > 0; --delay) spin_pause();
      std::this_thread::yield();
      signal_.reset();
      parked_.store(true, std::memory_order_relaxed);
      asymmetric_fence::heavy();
      if (position_.load(std::memory_order_acquire) >= target) return true;
      if (!signal_.wait(now_ns() + kLong) && position_.load(std::memory_order_acquire) >= target) return false;
    }
    return true;
  }

 private:
  std::atomic<int64_t> position_ = 0;
  std::atomic<bool> parked_ = false;
  Signal signal_;
};

int64_t rounds_until_a_wake_is_lost(int64_t most) {
  Sleeper sleeper;
  std::atomic<int64_t> asked = 0;
  std::thread poster([&] {
    headpond::Random random(4);
    for (int64_t posted = 0; posted < most; ++posted) {
      while (asked.load(std::memory_order_acquire) <= posted) std::this_thread::yield();
      for (uint64_t delay = random.below(400); delay > 0; --delay) spin_pause();
      sleeper.post();
    }
  });
  headpond::Random random(5);
  int64_t round = 0;
  for (bool awake = true; round < most && awake; ++round) {
    asked.store(round + 1, std::memory_order_release);
    awake = sleeper.await(round + 1, random.below(400));
  }
  asked.store(most, std::memory_order_release);
  poster.join();
  return round;
}

TEST_F(Gates, ASleeperThatLooksAgainLosesNoWake) { EXPECT_EQ(rounds_until_a_wake_is_lost(3000), 3000); }

}  // namespace
}  // namespace headpond::internal

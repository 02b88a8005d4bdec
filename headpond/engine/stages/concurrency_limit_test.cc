// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "headpond/base/clock.h"
#include "headpond/engine/executor/lock_wait.h"
#include "headpond/engine/stages/concurrency_limit_internal.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int kMost = 64;

// How much so many threads get done, where one gets 1 done.
using Rate = std::function<double(int threads)>;

Rate at_most(double most) {
  return [most](int threads) { return std::min<double>(threads, most); };
}
const Rate kWithoutLock = at_most(kMost);

// Threads that have something to do all the time: when a task ends, another one begins.
class Threads {
 public:
  void run(const Rate& rate, int tasks, int threads = kMost, const void* stage = nullptr) {
    for (int i = 0; i < tasks; ++i) {
      fill(threads, stage);
      const double longer = running_ / rate(running_);
      (void)limit_.end({.ended_ns = now_ns(), .elapsed_ns = static_cast<int64_t>(longer * 20 * kMillisecond)});
      --running_;
    }
    fill(threads, stage);
  }
  int running() const { return running_; }
  std::optional<double> exponent() const { return limit_.exponent(); }

 private:
  void fill(int threads, const void* stage) {
    for (; running_ < threads && !limit_.is_reached(); ++running_) limit_.begin(stage);
  }

  ConcurrencyLimit limit_{kMost};
  int running_ = 0;
};

TEST(ConcurrencyLimit, GrowsAsLongAsMoreThreadsGetMoreDone) {
  Threads threads;
  EXPECT_EQ(threads.running(), 0);
  threads.run(kWithoutLock, 1);
  EXPECT_EQ(threads.running(), 2);
  threads.run(kWithoutLock, 1000);
  EXPECT_EQ(threads.running(), kMost);
}

TEST(ConcurrencyLimit, StaysNearTheNumberThatTheLockFeeds) {
  for (const double most : {1.0, 3.0, 6.0, 20.0}) {
    Threads threads;
    threads.run(at_most(most), 5000);
    EXPECT_GE(threads.running(), 0.7 * most) << most;
    EXPECT_LE(threads.running(), 1.6 * most + 1) << most;
  }
}

TEST(ConcurrencyLimit, GoesBackWhereMoreThreadsGetLessDone) {
  Threads threads;
  threads.run([](int n) { return n <= 6 ? n : 36.0 / n; }, 5000);
  EXPECT_GE(threads.running(), 4);
  EXPECT_LE(threads.running(), 8);
}

TEST(ConcurrencyLimit, TellsWhetherMoreThreadsGetMoreDone) {
  Threads locked, free, new_one;
  locked.run(at_most(2), 1000);
  free.run(kWithoutLock, 200);
  EXPECT_NEAR(locked.exponent().value_or(-1), 1, 0.1);
  EXPECT_NEAR(free.exponent().value_or(-1), 0, 0.1);
  Threads slow_at_first;
  slow_at_first.run([](int) { return 0.02; }, 2);
  slow_at_first.run(at_most(2), 1000);
  EXPECT_NEAR(slow_at_first.exponent().value_or(-1), 1, 0.1) << "that more were faster than that says nothing";
  new_one.run(at_most(2), 1);
  EXPECT_FALSE(new_one.exponent());
  free.run(at_most(4), 20'000);
  EXPECT_NEAR(free.exponent().value_or(-1), 1, 0.3) << "later tries count most";
}

TEST(ConcurrencyLimit, TellsNothingOfStagesThatShareIt) {
  const int stages[2] = {};
  Threads one, two;
  one.run(at_most(2), 1000, kMost, &stages[0]);
  EXPECT_TRUE(one.exponent());
  two.run(at_most(2), 1000, kMost, &stages[0]);
  two.run(at_most(2), 1, kMost, &stages[1]);
  EXPECT_FALSE(two.exponent());
}

TEST(ConcurrencyLimit, FollowsWhatChanges) {
  Threads threads;
  threads.run(at_most(4), 2000);
  threads.run(at_most(32), 20'000);
  EXPECT_GE(threads.running(), 20);
  threads.run(at_most(4), 20'000);
  EXPECT_LE(threads.running(), 8);
}

TEST(ConcurrencyLimit, LearnsNothingWhileFewerHaveWork) {
  Threads threads;
  threads.run(kWithoutLock, 20);
  threads.run(kWithoutLock, 20, 2);  // Ends what was measured of all of them.
  threads.run(kWithoutLock, 1);
  const int limit = threads.running();
  threads.run(kWithoutLock, 1000, limit - 2);
  threads.run(kWithoutLock, 1);
  EXPECT_EQ(threads.running(), limit);
  threads.run(kWithoutLock, 1000);
  EXPECT_GT(threads.running(), limit) << "control: all of them have work";
}

TEST(ConcurrencyLimit, LetsOneMoreInEachSecondInWhichNoneReturns) {
  ConcurrencyLimit limit(kMost);
  for (int i = 0; i < 3; ++i) limit.begin();
  const int64_t now = now_ns();
  (void)limit.end({.ended_ns = now - ConcurrencyLimit::kUntilOneMoreNs / 2});
  EXPECT_TRUE(limit.is_reached()) << "not yet";
  limit.begin();
  (void)limit.end({.ended_ns = now - ConcurrencyLimit::kUntilOneMoreNs});
  EXPECT_FALSE(limit.is_reached());
  limit.begin();
  EXPECT_TRUE(limit.is_reached()) << "one more is in";
}

TEST(ConcurrencyLimit, IsNeverMoreThanTheMost) {
  ConcurrencyLimit limit(1);
  limit.begin();
  EXPECT_TRUE(limit.is_reached());
  limit.begin();
  (void)limit.end({.ended_ns = now_ns() - 2 * ConcurrencyLimit::kUntilOneMoreNs});
  EXPECT_TRUE(limit.is_reached()) << "also while none returns";
}

// A lock that those who wait get in the order in which they came.
class Turns {
 public:
  void take() {
    std::unique_lock lock(mu_);
    const int64_t mine = last_++;
    changed_.wait(lock, [&] { return mine == now_; });
  }
  void give() {
    const std::lock_guard lock(mu_);
    ++now_;
    changed_.notify_all();
  }

 private:
  std::mutex mu_;
  std::condition_variable changed_;
  int64_t last_ = 0, now_ = 0;
};

// Holds a lock while it computes, in `parts`, and sleeps without it between two of them. The first wait for it is
// known.
struct LockingFunction {
  int64_t computes_us, sleeps_us;
  int parts = 2;
  bool tells = true;
  std::shared_ptr<Turns> lock = std::make_shared<Turns>();
  std::shared_ptr<Crowd> crowd = std::make_shared<Crowd>();

  int64_t operator()(int64_t x) const {
    crowd->enter();
    for (int i = 0; i < parts; ++i) {
      const int64_t asked = now_ns();
      lock->take();
      if (tells && i == 0) lock_wait_ns_by_thread += now_ns() - asked + 1;
      busy_us(computes_us / parts);
      lock->give();
      if (sleeps_us > 0 && i + 1 < parts) std::this_thread::sleep_for(std::chrono::microseconds(sleeps_us));
    }
    crowd->leave();
    return x;
  }
};

// How many threads are in functions at once at most, after `warm` batches. Two stages share the function's lock.
int threads_inside(const LockingFunction& function, int warm) {
  const auto data = range(1 << 30) | map(function, {.name = "first"}) | shuffle() | map(function, {.name = "second"});
  Loader loader(data | batch(16), {.threads = 2, .io_threads = kMost});
  for (int i = 0; i < warm + 40; ++i) {
    if (i == warm) function.crowd->most = 0;
    if (!loader.next()) return 0;
  }
  return function.crowd->most;
}

TEST(ConcurrencyLimit, KeepsThreadsThatWouldWaitOutOfFunctionsWhoseLockIsBusy) {
  const auto inside = [](bool tells) {
    return threads_inside({.computes_us = 100, .sleeps_us = 400, .tells = tells}, 100);
  };
  EXPECT_TRUE(is_so_in_one_run([&] { return inside(true) < kMost / 2; }));
  EXPECT_TRUE(is_so_in_one_run([&] { return inside(false) > kMost / 2; })) << "control: it tells of no lock";
}

TEST(ConcurrencyLimit, LetsAllThreadsIntoAFunctionThatMostlySleeps) {
  EXPECT_TRUE(is_so_in_one_run([] { return threads_inside({.computes_us = 2, .sleeps_us = 10'000}, 60) > kMost / 2; }));
}

// What several threads compute in turn is as often blocked as what waits for a network.
TEST(ConcurrencyLimit, NoIoThreadRunsAFunctionThatLosesItsLockWhileItComputes) {
  const auto io_threads = [](bool tells) {
    const LockingFunction function{.computes_us = 30'000, .sleeps_us = 0, .parts = 15, .tells = tells};
    Loader loader(range(48) | map(function, {.name = "function"}) | batch(4), {.threads = 4, .io_threads = 8});
    EXPECT_EQ(rest_of(loader).size(), 48 / 4);
    return loader.stats().io_threads;
  };
  EXPECT_TRUE(is_so_in_one_run([&] { return io_threads(true) == 0; }));
  EXPECT_TRUE(is_so_in_one_run([&] { return io_threads(false) > 0; })) << "control: it tells of no lock";
}

// None returns before four of them run.
TEST(ConcurrencyLimit, FunctionsThatWaitForEachOtherReturn) {
  constexpr int kTogether = 4, kAlone = 40;
  const auto inside = std::make_shared<std::atomic<int>>(0);
  const auto meet = [inside](int64_t x) {
    lock_wait_ns_by_thread += 1;
    if (x < kAlone) return x;
    ++*inside;
    while (*inside % kTogether != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return x;
  };
  Loader loader(range(kAlone + kTogether) | map(meet, {.blocking = true}) | batch(4), {.threads = 2, .io_threads = 8});
  EXPECT_EQ(rest_of(loader).size(), kAlone / 4 + kTogether / 4);
  EXPECT_EQ(*inside, kTogether);
}

// Work that begins and ends again and again, at each limit.
TEST(ConcurrencyLimit, LosesNoElement) {
  const auto run = [](int threads, int64_t sleeps_us) {
    const LockingFunction function{.computes_us = 20, .sleeps_us = sleeps_us};
    LoaderOptions options{.threads = threads, .io_threads = 8};
    options.epochs = 20;
    const auto data = range(60) | map(function, {.name = "a"}) | shuffle() | map(function, {.name = "b"}) | batch(4);
    return loaded(data, options);
  };
  const auto expected = run(0, 0);
  ASSERT_EQ(expected.size(), 20 * 15);
  for (const int threads : {1, 2, 3}) {
    for (const int64_t sleeps_us : {0, 300}) EXPECT_EQ(run(threads, sleeps_us), expected);
  }
}

}  // namespace
}  // namespace headpond::internal

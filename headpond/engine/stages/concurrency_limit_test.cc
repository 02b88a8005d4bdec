// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "headpond/base/clock.h"
#include "headpond/engine/executor/lock_wait.h"
#include "headpond/engine/stages/concurrency_limit_internal.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int kMost = 64;

int limit_of(const ConcurrencyLimit& limit) {
  int running = 0;
  while (!limit.is_reached(running)) ++running;
  return running;
}

// As many tasks as tell something, which waited for `share` of their time. Returns whether more may run now.
bool add_window(ConcurrencyLimit& limit, double share, int fewer = 0) {
  const int running = std::max(limit_of(limit) - fewer, 1), tasks = 2 * limit_of(limit);
  const int64_t elapsed = std::max(100 * kMillisecond / tasks + 1, 50 * kMillisecond);
  const auto waited = static_cast<int64_t>(share * static_cast<double>(elapsed));
  bool grew = false;
  for (int i = 0; i < tasks; ++i) grew = limit.add({elapsed, waited, running, kMost}) || grew;
  return grew;
}

ConcurrencyLimit with_lock() {
  ConcurrencyLimit limit;
  (void)limit.add({1, 1, 1, kMost});
  return limit;
}

TEST(ConcurrencyLimit, IsNoneForFunctionsThatHoldNoLock) {
  ConcurrencyLimit limit;
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(limit.add({kMillisecond, 0, 50, kMost}));
  EXPECT_FALSE(limit.is_reached(100'000));
  EXPECT_EQ(limit_of(with_lock()), 2) << "control: one that waited for a lock";
}

TEST(ConcurrencyLimit, DoublesUntilTheLockIsSeldomFreeAndThenFollowsItSlowly) {
  ConcurrencyLimit limit = with_lock();
  EXPECT_TRUE(add_window(limit, 0.001));
  EXPECT_EQ(limit_of(limit), 4);
  EXPECT_TRUE(add_window(limit, 0.01));
  EXPECT_TRUE(add_window(limit, 0.01));
  EXPECT_EQ(limit_of(limit), 16);
  EXPECT_FALSE(add_window(limit, 0.03)) << "often free, but not always";
  EXPECT_EQ(limit_of(limit), 16);
  EXPECT_FALSE(add_window(limit, 0.06));
  EXPECT_EQ(limit_of(limit), 11);
  EXPECT_TRUE(add_window(limit, 0.01));
  EXPECT_EQ(limit_of(limit), 13) << "it no longer doubles";
}

TEST(ConcurrencyLimit, StaysBetweenOneAndTheMost) {
  ConcurrencyLimit limit = with_lock();
  for (int i = 0; i < 20; ++i) add_window(limit, 0.001);
  EXPECT_EQ(limit_of(limit), kMost);
  for (int i = 0; i < 40; ++i) add_window(limit, 0.9);
  EXPECT_EQ(limit_of(limit), 1);
  EXPECT_TRUE(add_window(limit, 0.001) || add_window(limit, 0.001)) << "and it grows again";
}

TEST(ConcurrencyLimit, LeavesSomeThreadsBesideAProgramThatHoldsTheLock) {
  ConcurrencyLimit limit = with_lock();
  for (int i = 0; i < 20; ++i) add_window(limit, 0.08);
  EXPECT_EQ(limit_of(limit), 4) << "two of them waited as long";
  ConcurrencyLimit many = with_lock();
  for (int i = 0; i < 6; ++i) add_window(many, 0.001);
  for (int i = 0; i < 20; ++i) add_window(many, 0.08);
  EXPECT_EQ(limit_of(many), 5);
}

TEST(ConcurrencyLimit, DoesNotGrowWhileFewerHaveWork) {
  ConcurrencyLimit limit = with_lock();
  add_window(limit, 0.001);
  EXPECT_FALSE(add_window(limit, 0.001, 1));
  EXPECT_EQ(limit_of(limit), 4);
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

// How many threads are in the function at once at most, after `warm` batches.
int threads_inside(const LockingFunction& function, int warm) {
  Loader loader(range(1 << 30) | map(function, {.name = "function"}) | batch(16), {.threads = 2, .io_threads = kMost});
  for (int i = 0; i < warm + 40; ++i) {
    if (i == warm) function.crowd->most = 0;
    if (!loader.next()) return 0;
  }
  return function.crowd->most;
}

TEST(ConcurrencyLimit, KeepsThreadsThatWouldWaitOutOfAFunctionWhoseLockIsBusy) {
  const auto inside = [](bool tells) {
    return threads_inside({.computes_us = 100, .sleeps_us = 400, .tells = tells}, 200);
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

// Work that begins and ends again and again, at each limit: a wake-up that is lost would stop it for ever.
TEST(ConcurrencyLimit, LosesNoWakeUpAndNoElement) {
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

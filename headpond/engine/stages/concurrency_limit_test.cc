// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <utility>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/engine/executor/lock_wait.h"
#include "headpond/engine/loader.h"
#include "headpond/engine/stages/concurrency_limit_internal.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int kMost = 256;

int limit_of(const ConcurrencyLimit& limit) {
  int running = 0;
  while (running < 1000 && !limit.is_reached(running)) ++running;
  return running;
}

// A task of each thread that may run, which waited for the lock for such a share of its time. Returns whether more may
// run now.
bool add_round(ConcurrencyLimit& limit, double share, bool waits, int most = 4) {
  constexpr int64_t kTask = 30 * kMillisecond;
  const int running = limit_of(limit);
  bool grew = false;
  for (int i = 0; i < running; ++i) {
    const auto waited = static_cast<int64_t>(share * static_cast<double>(kTask));
    grew = limit.add({kTask, waited + 1, waits, running, most}) || grew;
  }
  return grew;
}

TEST(ConcurrencyLimit, IsNoneWithoutALock) {
  ConcurrencyLimit limit;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(limit.add({30 * kMillisecond, 0, i % 2 == 0, 4, 4}));
  EXPECT_EQ(limit_of(limit), 1000);
}

TEST(ConcurrencyLimit, OfThreadsThatComputeBeginsWithOneAndFollowsTheShareOfTheirTime) {
  ConcurrencyLimit limit;
  EXPECT_FALSE(limit.add({kMillisecond, 1, false, 4, 4}));
  EXPECT_EQ(limit_of(limit), 1);
  EXPECT_FALSE(limit.add({10 * kMillisecond, 1, false, 1, 4})) << "too short to be sure";
  EXPECT_TRUE(limit.add({10 * kMillisecond, kMillisecond, false, 1, 4}));
  EXPECT_EQ(limit_of(limit), 2);
  for (int i = 0; i < 5; ++i) add_round(limit, 0.05, false);
  EXPECT_EQ(limit_of(limit), 4) << "as many as there are threads";
  EXPECT_FALSE(add_round(limit, 0.3, false));
  EXPECT_EQ(limit_of(limit), 4);
  EXPECT_FALSE(add_round(limit, 0.6, false));
  EXPECT_EQ(limit_of(limit), 3);
  for (int i = 0; i < 10; ++i) add_round(limit, 0.9, false);
  EXPECT_EQ(limit_of(limit), 1) << "always one";
}

TEST(ConcurrencyLimit, DoesNotGrowWhileFewerHaveWork) {
  ConcurrencyLimit limit;
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(i > 1 && limit.add({90 * kMillisecond, 1, true, i == 0 ? 3 : 2, kMost}));
  EXPECT_EQ(limit_of(limit), 3);
}

TEST(ConcurrencyLimit, OfThreadsThatWaitFollowsHowManyWaitForTheLock) {
  ConcurrencyLimit limit;
  EXPECT_FALSE(limit.add({kMillisecond, 1, true, 40, kMost}));
  EXPECT_EQ(limit_of(limit), 40) << "those that began before the first one ended";
  EXPECT_FALSE(add_round(limit, 0.04, true, kMost)) << "1.6 of them wait";
  EXPECT_EQ(limit_of(limit), 40);
  EXPECT_TRUE(add_round(limit, 0.005, true, kMost)) << "0.2";
  EXPECT_EQ(limit_of(limit), 61);
  EXPECT_FALSE(add_round(limit, 0.05, true, kMost)) << "3";
  EXPECT_EQ(limit_of(limit), 53);
  for (int i = 0; i < 40; ++i) add_round(limit, 0.99, true, kMost);
  EXPECT_EQ(limit_of(limit), 2) << "of two, no more than two can wait";
  for (int i = 0; i < 12; ++i) add_round(limit, 0.0001, true, kMost);
  EXPECT_EQ(limit_of(limit), kMost) << "as many as there are, soon";
  add_round(limit, 0.0001, false);
  EXPECT_EQ(limit_of(limit), 2) << "it computes now: it began with one";
}

// Tasks that take a lock `takings` times, in the order in which they ask for it, and wait between the first two of
// them. Only the first wait for the lock is known. Times are in us.
struct Work {
  double waits, holds;
  int takings;
};

class Simulation {
 public:
  /// `fixed`: so many threads; 0: as many as the limit says.
  Simulation(const Work& work, int fixed) : work_(work), fixed_(fixed), threads_(kMost) {}

  /// Tasks that end in a second, after a warm-up of three.
  double rate() {
    at(0, [this] { start(); });
    run_until(3e6);
    const int64_t before = ended_;
    run_until(13e6);
    return static_cast<double>(ended_ - before) / 10;
  }
  int running() const { return running_; }

 private:
  struct Task {
    bool runs = false;
    int taken = 0;
    double began = 0, waited = 0;
  };
  struct Event {
    double time;
    int64_t order;
    std::function<void()> happens;
    bool operator<(const Event& other) const { return std::pair(time, order) > std::pair(other.time, other.order); }
  };

  void at(double time, std::function<void()> happens) { events_.push({time, order_++, std::move(happens)}); }
  void run_until(double end) {
    for (; events_.top().time < end; now_ = events_.top().time) {
      const Event next = events_.top();
      events_.pop();
      now_ = next.time;
      next.happens();
    }
  }
  // From half of `mean` to three halves.
  double about(double mean) {
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    return mean * (0.5 + static_cast<double>(random_ >> 40U) / static_cast<double>(1 << 24));
  }
  bool may_start() const { return running_ < kMost && (fixed_ > 0 ? running_ < fixed_ : !limit_.is_reached(running_)); }
  // A thread takes a while to begin.
  void start() {
    if (may_start()) begin(static_cast<size_t>(std::ranges::find(threads_, false, &Task::runs) - threads_.begin()));
    at(now_ + 30, [this] { start(); });
  }
  void begin(size_t i) {
    ++running_;
    threads_[i] = {.runs = true, .began = now_};
    ask(i);
  }
  void ask(size_t i) {
    line_.emplace_back(i, now_);
    if (!is_held_) take_next();
  }
  void take_next() {
    is_held_ = !line_.empty();
    if (!is_held_) return;
    const auto [i, asked] = line_.front();
    line_.pop_front();
    if (threads_[i].taken++ == 0) threads_[i].waited = now_ - asked;
    at(now_ + about(work_.holds), [this, which = i] { give_back(which); });
  }
  void give_back(size_t i) {
    take_next();
    if (threads_[i].taken == work_.takings) return end(i);
    at(now_ + (threads_[i].taken == 1 ? about(work_.waits) : 1), [this, i] { ask(i); });
  }
  void end(size_t i) {
    ++ended_;
    const auto ns = [](double us) { return static_cast<int64_t>(us * 1000); };
    (void)limit_.add({ns(now_ - threads_[i].began), ns(threads_[i].waited) + 1, true, running_, kMost});
    --running_;
    threads_[i].runs = false;
    if (may_start()) begin(i);
  }

  const Work work_;
  const int fixed_;
  std::vector<Task> threads_;
  std::priority_queue<Event> events_;
  std::deque<std::pair<size_t, double>> line_;
  ConcurrencyLimit limit_;
  bool is_held_ = false;
  int running_ = 0;
  double now_ = 0;
  int64_t order_ = 0, ended_ = 0;
  uint64_t random_ = 1;
};

// Near the rate of as many threads as there may be, which in a simulation cost nothing, after three seconds. `enough`:
// this many would reach the rate if nothing differed: the time of a task over that in which it holds the lock.
TEST(ConcurrencyLimit, KeepsTheLockBusyWithFewThreads) {
  for (const Work& work :
       {Work{200, 25, 2}, {200, 12, 4}, {400, 100, 2}, {400, 10, 10}, {1000, 50, 2}, {20'000, 200, 4}}) {
    const double best = Simulation(work, kMost).rate();
    Simulation limited(work, 0);
    EXPECT_GT(limited.rate(), 0.8 * best) << work.waits << " " << work.holds;
    const double held = work.holds * work.takings, enough = (work.waits + held) / held;
    EXPECT_LT(limited.running(), 2 * enough + 2 * work.takings) << work.waits << " " << work.holds;
    EXPECT_LT(Simulation(work, 2).rate(), 0.8 * best) << "control: two threads are too few";
  }
}

// What holds a lock while it computes for `holds_us`, and waits for `waits_us` without it.
struct LockingFunction {
  std::shared_ptr<std::mutex> lock = std::make_shared<std::mutex>();
  std::shared_ptr<Crowd> crowd = std::make_shared<Crowd>();
  int64_t holds_us, waits_us;
  bool tells = true;  // How long it waited for the lock.

  int64_t operator()(int64_t x) const {
    crowd->enter();
    const int64_t asked = now_ns();
    {
      const std::lock_guard locked(*lock);
      if (tells) lock_wait_ns_by_thread += now_ns() - asked + 1;
      busy_us(holds_us);
    }
    if (waits_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(waits_us));
    {
      const std::lock_guard locked(*lock);
      busy_us(holds_us);
    }
    crowd->leave();
    return x;
  }
};

// How many threads are in the function at once at most, after `warm` batches.
int threads_inside(const LockingFunction& function, int warm, const LoaderOptions& options) {
  Loader loader(range(1 << 30) | map(function, {.name = "function"}) | batch(16), options);
  for (int i = 0; i < warm + 40; ++i) {
    if (i == warm) function.crowd->most = 0;
    if (!loader.next()) return 0;
  }
  return function.crowd->most;
}

TEST(ConcurrencyLimit, KeepsThreadsThatWaitOutOfAFunctionWhoseLockIsBusy) {
  const auto inside = [](bool tells) {
    return threads_inside({.holds_us = 50, .waits_us = 300, .tells = tells}, 100, {.threads = 2, .io_threads = 64});
  };
  EXPECT_TRUE(is_so_in_one_run([&] { return inside(true) < 32; }));
  EXPECT_TRUE(is_so_in_one_run([&] { return inside(false) > 48; })) << "control: it tells of no lock";
}

TEST(ConcurrencyLimit, LetsThreadsIntoAFunctionThatMostlyWaitsForSomethingElse) {
  EXPECT_TRUE(is_so_in_one_run(
      [] { return threads_inside({.holds_us = 1, .waits_us = 10'000}, 20, {.threads = 2, .io_threads = 32}) >= 24; }));
}

TEST(ConcurrencyLimit, KeepsThreadsThatComputeOutOfAFunctionThatWaitsForItsLock) {
  const auto inside = [](bool tells) {
    return threads_inside({.holds_us = 100, .waits_us = 0, .tells = tells}, 60, {.threads = 4});
  };
  EXPECT_TRUE(is_so_in_one_run([&] { return inside(true) <= 2; }));
  EXPECT_TRUE(is_so_in_one_run([&] { return inside(false) > 2; })) << "control: it tells of no lock";
}

// Work that begins and ends again and again, at each limit: a wake-up that is lost would stop it for ever.
TEST(ConcurrencyLimit, LosesNoWakeUp) {
  for (const int threads : {1, 2, 3}) {
    for (const int64_t waits_us : {0, 200}) {
      const LockingFunction function{.holds_us = 20, .waits_us = waits_us};
      const auto odd = [function](int64_t x) {
        if (x % 97 == 0) pause_ms(1);
        return function(x);
      };
      LoaderOptions options{.threads = threads, .io_threads = 8};
      options.epochs = 40;
      Loader loader(range(60) | map(odd, {.name = "a"}) | shuffle() | map(odd, {.name = "b"}) | batch(4), options);
      int64_t batches = 0;
      for (const Batch& batch : loader) batches += batch.index() >= 0 ? 1 : 0;
      EXPECT_EQ(batches, 40 * 15);
    }
  }
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "headpond/base/clock.h"
#include "headpond/engine/executor/consumer_internal.h"
#include "headpond/engine/executor/watch/thread_look_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kCheapNs = 1000, kDearNs = 1'000'000;

// Whether it makes batches itself after ten takes.
bool is_inline_after_ten(Consumer& consumer, int64_t work_ns, bool any_blocking = false) {
  EngineLock lock;
  const Locked locked(lock);
  for (int i = 0; i < 10; ++i) (void)consumer.count_take(work_ns, any_blocking);
  EXPECT_EQ(consumer.takes(), 10);
  return consumer.is_inline();
}

TEST(Consumer, MakesCheapBatchesItself) {
  Consumer cheap(true), dear(true), may_not(false), waits(true);
  EXPECT_TRUE(is_inline_after_ten(cheap, kCheapNs));
  EXPECT_FALSE(is_inline_after_ten(dear, kDearNs));
  EXPECT_FALSE(is_inline_after_ten(may_not, kCheapNs)) << "it may not help";
  EXPECT_FALSE(is_inline_after_ten(waits, kCheapNs, true)) << "something waits";
}

TEST(Consumer, LeavesBatchesToThreadsWhenTheyGetDear) {
  Consumer consumer(true);
  EXPECT_TRUE(is_inline_after_ten(consumer, kCheapNs));
  EngineLock lock;
  const Locked locked(lock);
  EXPECT_FALSE(consumer.count_take(kCheapNs, false));
  bool ended = false;
  for (int i = 0; i < 10 && !ended; ++i) ended = consumer.count_take(kDearNs, false);
  EXPECT_TRUE(ended);
  EXPECT_FALSE(consumer.is_inline());
}

TEST(Consumer, APauseEndsTheCallThatFoundNothing) {
  Consumer consumer(true);
  EngineLock lock;
  consumer.arrive(lock);
  consumer.leave_empty();
  EXPECT_TRUE(consumer.is_in_call()) << "control: it comes again for its batch";
  const int64_t took = consumer.polled_ns() - consumer.arrived_ns();
  consumer.pause();
  EXPECT_FALSE(consumer.is_in_call());
  EXPECT_EQ(consumer.polled_ns(), 0);
  EXPECT_EQ(consumer.called_ns(INT64_MAX), took);
  consumer.arrive(lock);
  consumer.pause();
  EXPECT_TRUE(consumer.is_in_call()) << "a call that goes on";
}

TEST(Consumer, KnowsTheTimeBetweenTakesAfterItsFirstStep) {
  Consumer consumer(true);
  EngineLock lock;
  {
    const Locked locked(lock);
    (void)consumer.count_take(0, false);
    EXPECT_EQ(consumer.take_interval_ns(1, 0), 0) << "unknown";
  }
  consumer.arrive(lock);
  consumer.leave();
  consumer.arrive(lock);
  const Locked locked(lock);
  (void)consumer.count_take(0, false);
  const double interval = consumer.take_interval_ns(1, 0);
  EXPECT_GE(interval, 2000) << "two steps of a microsecond at least";
  EXPECT_EQ(consumer.take_interval_ns(2, 0), interval / 2) << "a stage that gave two items meanwhile";
  EXPECT_EQ(consumer.take_interval_ns(0, 0), 0);
}

// Steps of the program, each of which computes for so many milliseconds, or sleeps.
class Steps {
 public:
  void take(int64_t computes_ms) {
    consumer.arrive(lock);
    {
      const Locked locked(lock);
      consumer.count_step();
      consumer.steps.call_ends(0);
    }
    consumer.leave();
    if (computes_ms == 0) return std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const int64_t until = thread_cpu_ns() + computes_ms * 1'000'000;
    while (thread_cpu_ns() < until) {
    }
  }
  Consumer consumer{true};
  EngineLock lock;
};

// The share of steps that were not as expected among those that are looked at, where each `period`-th is such a one.
double share_seen(int period, int phase) {
  CpuLooks looks;
  int seen = 0, all = 0;
  for (int step = 0; step < 20'000; ++step) {
    const bool is_due = looks.is_due(), as_expected = step % period != phase;
    looks.pass();
    if (!is_due) continue;
    ++all;
    seen += as_expected ? 0 : 1;
    looks.looked(as_expected);
  }
  EXPECT_LT(all, 20'000 / 2);
  return static_cast<double>(seen) / all;
}

TEST(CpuLooks, MissNoPeriodOfAProgram) {
  for (const int period : {5, 7, 10, 20, 50, 100}) {
    for (int phase = 0; phase < period; ++phase) {
      const double seen = share_seen(period, phase) * period;
      EXPECT_GT(seen, 0.5) << period << " " << phase;
      EXPECT_LT(seen, 2) << period << " " << phase;
    }
  }
}

TEST(CpuLooks, LookAtEachOfTheFirstStepsAndAtTheNextAfterOneThatWasNotExpected) {
  CpuLooks looks;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(looks.is_due()) << i;
    looks.pass();
    looks.looked(true);
  }
  looks.pass();
  looks.looked(true);
  EXPECT_FALSE(looks.is_due());
  looks.looked(false);
  EXPECT_TRUE(looks.is_due());
}

TEST(Consumer, NoticesThatStepsCompute) {
  Steps steps;
  for (int i = 0; i < 10; ++i) steps.take(0);
  EXPECT_FALSE(steps.consumer.computes());
  // As soon as it has a processor for most of some steps.
  for (const int64_t end = now_ns() + 60'000'000'000; now_ns() < end && !steps.consumer.computes();) steps.take(1);
  EXPECT_TRUE(steps.consumer.computes());
}

// The share of a long step that the program waited for a processor, as the third call sees it on this or another
// thread.
double queue_share(bool on_another_thread) {
  Consumer consumer(true);
  EngineLock lock;
  const auto take = [&] {
    consumer.arrive(lock);
    {
      const Locked locked(lock);
      consumer.count_step();
      consumer.steps.call_ends(0);
    }
    consumer.leave();
  };
  take();
  std::this_thread::sleep_for(std::chrono::milliseconds(60));  // The system is asked that seldom.
  take();
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (on_another_thread) {
    std::thread([&] { consumer.arrive(lock); }).join();
  } else {
    consumer.arrive(lock);
  }
  const Locked locked(lock);
  consumer.count_step();
  consumer.count_step();
  EXPECT_EQ(consumer.steps.counted(), 1);
  return consumer.steps.queue_share();
}

TEST(Consumer, ComparesNoClocksOfTwoThreads) {
  if (thread_queue_ns() < 0) GTEST_SKIP() << "the system does not say how long threads wait for a processor";
  EXPECT_LT(queue_share(true), 0) << "unknown";
  EXPECT_GE(queue_share(false), 0) << "control";
  EXPECT_LE(queue_share(false), 1);
}

TEST(Consumer, CountsTheTimeInCalls) {
  Consumer consumer(true);
  EngineLock lock;
  consumer.arrive(lock);
  const int64_t arrived = consumer.arrived_ns();
  EXPECT_EQ(consumer.called_ns(arrived + 5), 5);
  EXPECT_EQ(consumer.called_before_ns(), 0);
  consumer.leave_empty();
  EXPECT_EQ(consumer.called_ns(arrived + 7), 7) << "it polls";
  EXPECT_GT(consumer.polled_ns(), 0);
  consumer.arrive(lock);
  EXPECT_EQ(consumer.arrived_ns(), arrived) << "the call goes on";
  EXPECT_EQ(consumer.polled_ns(), 0) << "it may wait now";
  consumer.leave();
  EXPECT_EQ(consumer.polled_ns(), 0);
  const int64_t called = consumer.called_before_ns();
  EXPECT_GT(called, 0);
  EXPECT_EQ(consumer.called_ns(arrived + 1'000'000'000), called) << "between two calls it stands still";
}

// Of one step, in which the program could go on only after so long: what counts as its call, and as its step.
std::pair<double, double> call_and_step(std::chrono::milliseconds late, bool says_so) {
  Consumer consumer(true);
  EngineLock lock;
  for (int i = 0; i < 2; ++i) {
    consumer.arrive(lock);
    {
      const Locked locked(lock);
      consumer.count_step();
      consumer.steps.call_ends(0);
    }
    consumer.leave();
    std::this_thread::sleep_for(late);
    if (says_so) consumer.leave_late();
  }
  const Locked locked(lock);
  EXPECT_GE(consumer.called_before_ns(), says_so ? 2 * late / std::chrono::nanoseconds(1) : 0);
  const StepStats stats = consumer.steps.stats();
  return {stats.call_ns, stats.work_ns};
}

TEST(Consumer, ACallThatEndsLateIsNoStep) {
  using std::chrono::milliseconds;
  const auto [call, step] = call_and_step(milliseconds(20), true);
  EXPECT_GE(call, 20e6);
  EXPECT_LT(step, call);
  const auto [short_call, long_step] = call_and_step(milliseconds(20), false);
  EXPECT_GE(long_step, 20e6) << "control";
  EXPECT_LT(short_call, long_step);
  Consumer once(true);
  once.leave_late();
  EXPECT_EQ(once.called_before_ns(), 0) << "there was no call";
  once.leave();
  once.leave_late();
  const int64_t called = once.called_before_ns();
  std::this_thread::sleep_for(milliseconds(2));
  once.leave_late();
  EXPECT_EQ(once.called_before_ns(), called) << "the step after that is none of the call";
}

// Calls of a microsecond at least, without a step between them; returns the time of all in the figures.
double time_in_calls(Consumer& consumer, int calls, bool was_ready) {
  EngineLock lock;
  for (int i = 0; i < calls; ++i) {
    consumer.arrive(lock);
    {
      const Locked locked(lock);
      consumer.count_step();
      consumer.steps.call_ends(0);
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(1);
    while (std::chrono::steady_clock::now() < until) {
    }
    consumer.leave(was_ready);
  }
  const Locked locked(lock);
  return consumer.steps.stats().call_ns;
}

TEST(Consumer, SomeCallsThatFoundWhatTheyNeedStandForAll) {
  Consumer each(true), some(true);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_GE(time_in_calls(each, 4000, false), 3999 * 1000.0) << "control: each call";
  const double known = time_in_calls(some, 4000, true);
  EXPECT_GE(known, 3900 * 1000.0) << "the first samples are smaller";
  const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - began;
  EXPECT_LE(known, passed.count());
  EngineLock lock;
  const int64_t before = some.called_before_ns();
  some.arrive(lock);
  some.leave_empty();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  some.arrive(lock);
  some.leave(true);
  EXPECT_GE(some.called_before_ns() - before, 2'000'000) << "a call that went on";
}

TEST(Consumer, ComputesUntilItIsKnownToSleep) {
  Consumer consumer(true);
  EXPECT_FALSE(consumer.computes()) << "before the first batch nothing is held up";
  consumer.leave();
  EXPECT_TRUE(consumer.computes());
  EXPECT_GE(consumer.cpu(), 0);
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "headpond/engine/stages/counts/crowding_internal.h"
#include "headpond/engine/stages/counts/crowding_trial_internal.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kAtOnce = 64, kAQuarter = kAtOnce / 4;

// Calls that run as soon as they may; a stage that always has more of them.
class TrialCalls {
 public:
  // So many calls end, each `each_ns` after the one before if they share something, else they take `alone_ns`.
  void run(int calls, int64_t each_ns, int64_t alone_ns) {
    for (int i = 0; i < calls; ++i) {
      while (inside_ < kAtOnce && trial_.may_begin(inside_)) ++inside_;
      fewest_ = std::min(fewest_, inside_);
      const int64_t took_ns = each_ns > 0 ? each_ns * inside_ : alone_ns;
      now_ns_ += took_ns / inside_;
      crowding_.add(now_ns_ - took_ns, now_ns_, inside_, 1);
      const bool may = trial_.call_ended(inside_, now_ns_);
      asked_ += may ? 1 : 0;
      if (may && is_due_ && !crowding_.exponent()) trial_.begin(inside_, now_ns_);
      if (trial_.is_beginning()) crowding_.drop_last();
      --inside_;
    }
  }
  bool is_due_ = true;
  int64_t fewest_ = kAtOnce, asked_ = 0;
  std::optional<double> exponent() const { return crowding_.exponent(); }

 private:
  int64_t now_ns_ = now_ns(), inside_ = 0;
  Crowding crowding_;
  CrowdingTrial trial_;
};

TEST(CrowdingTrial, TellsASharedLimitFromServersOfTheirOwn) {
  TrialCalls shared, apart;
  shared.run(1000, 100'000, 0);
  apart.run(1000, 0, 6'400'000);
  EXPECT_NEAR(shared.exponent().value_or(-1), 1, 0.1);
  EXPECT_NEAR(apart.exponent().value_or(-1), 0, 0.1);
  EXPECT_EQ(shared.fewest_, kAQuarter);
}

TEST(CrowdingTrial, WithoutItNothingIsKnown) {
  TrialCalls callers;
  callers.is_due_ = false;
  callers.run(10'000, 100'000, 0);
  EXPECT_FALSE(callers.exponent());
  EXPECT_EQ(callers.fewest_, kAtOnce);
  EXPECT_LE(callers.asked_, 10'000 / kAtOnce) << "it is asked seldom";
}

TEST(CrowdingTrial, TakesPlaceOnce) {
  TrialCalls callers;
  callers.run(2000, 0, 6'400'000);
  EXPECT_EQ(callers.fewest_, kAQuarter);
  callers.fewest_ = kAtOnce;
  callers.run(10'000, 0, 6'400'000);
  EXPECT_EQ(callers.fewest_, kAtOnce);
}

TEST(CrowdingTrial, EndsAfterATimeInWhichNoneReturns) {
  const auto begun_at = [](int64_t ns) {
    CrowdingTrial trial;
    trial.begin(kAtOnce, ns);
    return trial;
  };
  EXPECT_FALSE(begun_at(now_ns()).may_begin(kAQuarter));
  EXPECT_TRUE(begun_at(now_ns()).may_begin(kAQuarter - 1));
  EXPECT_TRUE(begun_at(now_ns() - CrowdingTrial::kLongestNs).may_begin(kAQuarter));
}

TEST(CrowdingTrial, FewCallsHaveNone) {
  CrowdingTrial trial;
  const auto trials = [&trial](int64_t inside) {
    int64_t all = 0;
    for (int i = 0; i < 1000; ++i) all += trial.call_ended(inside, now_ns()) ? 1 : 0;
    return all;
  };
  EXPECT_EQ(trials(CrowdingTrial::kLeastInside - 1), 0);
  EXPECT_GT(trials(CrowdingTrial::kLeastInside), 0) << "control";
}

// Calls of a function: how many began one after the other while a quarter or less ran, after all had run. As many as
// may run at once begin so where a stage goes on after a pause; in a trial four times as many do.
struct CountedCalls {
  std::atomic<int64_t> now = 0, most = 0, beside_few = 0, longest = 0;

  void run(int64_t ms) {
    const int64_t here = ++now;
    if (here == kAtOnce) most = kAtOnce;
    const bool is_few = here <= kAQuarter && most == kAtOnce;
    if (!is_few) beside_few = 0;
    const int64_t row = is_few ? ++beside_few : 0;
    for (int64_t seen = longest; seen < row && !longest.compare_exchange_weak(seen, row);) {
    }
    pause_ms(ms);
    --now;
  }
};

// Of a program whose steps take so long.
bool has_trial(int64_t step_ms, int batches) {
  const auto calls = std::make_shared<CountedCalls>();
  const auto waits = [calls](int64_t x) {
    calls->run(10);
    return x;
  };
  Loader loader(range(1 << 30) | map(waits, {.blocking = true}) | batch(32), {.threads = 1, .io_threads = kAtOnce});
  for (int i = 0; i < batches; ++i) {
    EXPECT_TRUE(loader.next());
    pause_ms(step_ms);
  }
  return calls->longest >= 3 * kAQuarter;
}

TEST(CrowdingTrial, IsMadeWhileTheProgramWaits) {
  EXPECT_TRUE(is_so_in_one_run([] { return has_trial(0, 300); }));
  EXPECT_TRUE(is_so_in_one_run([] { return !has_trial(20, 60); })) << "control: a program that does not wait";
}

// Whether functions of which none returns before 20 of them run, more than run in a trial, had a trial.
bool has_trial_of_functions_that_meet() {
  constexpr int64_t kTogether = 20, kRows = 12'000;
  struct Meeting {
    std::mutex mu;
    int64_t here = 0, met = 0;
    int64_t last_ns = now_ns(), longest_ns = 0;  // Between two times that some met.
  };
  const auto meeting = std::make_shared<Meeting>();
  const auto meet = [meeting](int64_t x) {
    std::unique_lock lock(meeting->mu);
    const int64_t mine = meeting->here++ / kTogether;
    if (meeting->here % kTogether == 0) {
      ++meeting->met;
      const int64_t now = now_ns();
      meeting->longest_ns = std::max(meeting->longest_ns, now - std::exchange(meeting->last_ns, now));
    }
    while (meeting->met <= mine) {
      lock.unlock();
      pause_ms(4);
      lock.lock();
    }
    return x;
  };
  Loader loader(range(kRows) | map(meet, {.blocking = true}) | batch(kTogether), {.threads = 1, .io_threads = kAtOnce});
  EXPECT_EQ(rest_of(loader).size(), static_cast<size_t>(kRows / kTogether));
  return meeting->longest_ns > CrowdingTrial::kLongestNs / 2;
}

TEST(CrowdingTrial, FunctionsThatWaitForEachOtherReturn) {
  EXPECT_TRUE(is_so_in_one_run(has_trial_of_functions_that_meet));
}

}  // namespace
}  // namespace headpond::internal

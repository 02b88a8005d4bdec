// SPDX-License-Identifier: Apache-2.0
// The gate under random schedules: a few threads, each with a few calls, run one at a time as a seed decides. No
// thread stays blocked that could continue, and every element put is taken. (tests/models searches all schedules, but
// of a model of the gate.) HEADPOND_SCHEDULES sets how many schedules, HEADPOND_SCHEDULES_FIRST the first seed: a seed
// that failed fails again.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/queue/sync/gate_plan_test_internal.h"
#include "headpond/queue/sync/scheduled_gate_test_internal.h"

namespace headpond::internal {
namespace {

// One gate and the calls of one schedule. Its own fields are plain: one thread runs at a time.
class Play {
 public:
  explicit Play(const Plan& plan, bool loses = false) : plan_(plan), loses_(loses) {
    row_for_owner = plan.row_for_owner;
    gate_.emplace(plan.capacity, plan.minimum);
    ScheduledAtomic<const BiasedLock*>::marks().clear();
  }

  // What was wrong, or "".
  std::string run(Scheduler& scheduler, uint64_t seed, const Mistakes& mistakes = {}) {
    std::vector<Scheduler::Body> bodies;
    for (size_t i = 0; i < plan_.scripts.size(); ++i) bodies.emplace_back([this, i] { play(i); });
    outcome_ = scheduler.run(
        seed, mistakes, bodies, [this] { audit_blocked(); }, [this] { gate_->close_and_cancel(); });
    if (outcome_.stuck) {
      check(false, "blocked although closed with cancel");
      return wrong_;
    }
    check(gate_->put_count() == put_ && gate_->take_count() == taken_, "counts differ");
    check(gate_->waiting_puts() == 0 && gate_->waiting_takes() == 0, "somebody waits still");
    return wrong_;
  }
  const Scheduler::Outcome& outcome() const { return outcome_; }

 private:
  // Where a call is.
  enum class At : uint8_t {
    nowhere,
    awaits_put_lock,
    holds_put_lock,
    awaits_take_lock,
    holds_take_lock,
    close,
    cancel
  };
  struct Call {
    At at = At::nowhere;
    int64_t least = 0;
    bool stoppable = false;
  };

  void check(bool holds, const char* otherwise) {
    if (!holds && wrong_.empty()) wrong_ = otherwise;
  }
  int64_t inside() const { return put_ - taken_; }

  void play(size_t thread) {
    Call& call = calls_[thread];
    for (const Step& step : plan_.scripts[thread]) {
      call = {.stoppable = step.stoppable};
      Wait wait{.timeout = step.timeout, .stop = step.stoppable ? stop_.get_token() : std::stop_token()};
      WaitContext context(wait);
      switch (step.kind) {
        case Step::put:
          check_pass(put(step, context, call), step);
          break;
        case Step::take:
        case Step::take_many:
        case Step::take_at_once:
          check_pass(take(step, context, call), step);
          break;
        case Step::close:
          call.at = At::close;
          gate_->close();
          check(gate_->refuses_puts(), "open after a close");
          break;
        case Step::cancel:
          call.at = At::cancel;
          gate_->close_and_cancel();
          check(gate_->refuses_puts(), "open after a close with cancel");
          break;
        case Step::stop:
          stop_.request_stop();
          break;
      }
      call.at = At::nowhere;
    }
  }

  void check_pass(WaitResult waited, const Step& step) {
    check(waited != WaitResult::timed_out || step.timeout != kForever, "timed out without a time");
    check(waited != WaitResult::stopped || step.stoppable, "stopped without a stop");
    check(waited != WaitResult::cancelled || step.kind == Step::put, "a take was cancelled");
  }

  WaitResult put(const Step& step, WaitContext& context, Call& call) {
    call.at = At::awaits_put_lock;
    if (const WaitResult waited = gate_->begin_put(context); waited != WaitResult::go) return waited;
    call.at = At::holds_put_lock;
    check(!std::exchange(putting_, true), "two threads hold the put lock");
    WaitResult waited = WaitResult::go;
    for (int64_t i = 0; i < step.n && waited == WaitResult::go; ++i) {
      waited = gate_->await_room(context);
      if (waited != WaitResult::go) break;
      check(plan_.capacity < 0 || inside() < plan_.capacity + returned_, "above the capacity");
      slots_[static_cast<size_t>(put_)] = put_ + 1;
      ++put_;
      gate_->commit_put(1);
    }
    putting_ = false;
    gate_->end_put();
    return waited;
  }

  WaitResult take(const Step& step, WaitContext& context, Call& call) {
    call.at = At::awaits_take_lock;
    if (const WaitResult waited = gate_->begin_take(context); waited != WaitResult::go) return waited;
    call.at = At::holds_take_lock;
    check(!std::exchange(taking_, true), "two threads hold the take lock");
    const int64_t n = step.kind == Step::take ? 1 : step.n;
    const int64_t at_once = step.kind == Step::take_at_once ? n : 1;
    int64_t count = 0;
    WaitResult waited = WaitResult::go;
    while (count < n) {
      call.least = at_once;
      waited = gate_->await_obtainable(at_once, context);
      if (waited != WaitResult::go) break;
      take_now(at_once);
      count += at_once;
    }
    check(waited != WaitResult::closed || (gate_->is_closed() && inside() < at_once),
          "closed although there is enough");
    if (waited != WaitResult::go && count > 0) give_back(count);
    taking_ = false;
    gate_->end_take();
    return waited;
  }

  void take_now(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      check(slots_[static_cast<size_t>(taken_ + i)] == taken_ + i + 1, "taken before it was put");
    }
    taken_ += count;
    check(inside() >= (gate_->is_closed() ? 0 : plan_.minimum), "below the minimum");
    gate_->commit_take(count);
  }

  void give_back(int64_t count) {
    returned_ += count;
    taken_ -= count;
    if (!loses_) gate_->give_back(count);
  }

  bool anybody(At at) const {
    return std::ranges::any_of(calls_, [at](const Call& call) { return call.at == at; });
  }

  // Everybody who is not done is blocked: none of them may have what it waits for.
  void audit_blocked() {
    const bool room = plan_.capacity < 0 || inside() < plan_.capacity;
    for (const Call& call : calls_) {
      if (call.at == At::nowhere) continue;
      check(!call.stoppable || call.at >= At::close || !stop_.stop_requested(), "blocked although stopped");
      check(call.at != At::holds_put_lock || !room, "a put is blocked although there is room");
      check(call.at != At::awaits_put_lock || (anybody(At::holds_put_lock) && !gate_->refuses_puts()),
            "a put waits for a lock that nobody holds");
      check(call.at != At::close || anybody(At::holds_put_lock), "a close is blocked though nobody puts");
      check(call.at != At::cancel, "a close with cancel is blocked");
      check(call.at != At::awaits_take_lock || anybody(At::holds_take_lock),
            "a take waits for a lock that nobody holds");
      check(call.at != At::holds_take_lock || (!gate_->is_closed() && inside() - plan_.minimum < call.least),
            "a take is blocked although it has what it waits for");
    }
  }

  const Plan& plan_;
  const bool loses_;  // The control: what a batch that failed gave back is gone.
  std::optional<Gate> gate_;
  std::stop_source stop_;
  std::array<Call, kMostThreads> calls_;
  std::array<int64_t, kMostThreads * kMostSteps * kMostElements> slots_{};
  int64_t put_ = 0;
  int64_t taken_ = 0;
  int64_t returned_ = 0;
  bool putting_ = false;
  bool taking_ = false;
  std::string wrong_;
  Scheduler::Outcome outcome_;
};

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* const given = std::getenv(name);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

// A scheduler whose threads the code under test has met before, so that a seed means the same at any time.
class Schedules : public ::testing::Test {
 protected:
  Schedules() {
    const Step take{.kind = Step::take, .n = 1, .timeout = kForever, .stoppable = false};
    const Plan plan{
        .capacity = -1, .minimum = 0, .row_for_owner = 1, .scripts = std::vector<Script>(kMostThreads, {take})};
    EXPECT_EQ(Play(plan).run(scheduler_, 0), "");
  }

  // Whether one of 20,000 seeds finds something wrong.
  bool is_found(const Mistakes& mistakes, bool loses = false) {
    for (uint64_t seed = 0; seed < 20'000; ++seed) {
      const Plan plan = random_plan(seed);
      if (!Play(plan, loses).run(scheduler_, seed, mistakes).empty()) return true;
    }
    return false;
  }

  void run_at_1000_seeds(const std::function<std::vector<Scheduler::Body>()>& bodies) { run_at_seeds(1'000, bodies); }
  void run_at_seeds(uint64_t seeds, const std::function<std::vector<Scheduler::Body>()>& bodies) {
    for (uint64_t seed = 0; seed < seeds && !HasFailure(); ++seed) {
      EXPECT_FALSE(scheduler_
                       .run(
                           seed, {.nobody_is_absent = true}, bodies(), [] {}, [] {})
                       .stuck)
          << seed;
    }
  }

  Scheduler scheduler_{kMostThreads};
};

TEST_F(Schedules, NobodyStaysBlockedWhoCouldGoOnAndNothingIsLost) {
  const uint64_t first = setting("HEADPOND_SCHEDULES_FIRST", 0);
  const uint64_t count = setting("HEADPOND_SCHEDULES", 5'000);
  int64_t points = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Plan plan = random_plan(seed);
    Play play(plan);
    ASSERT_EQ(play.run(scheduler_, seed), "") << "HEADPOND_SCHEDULES_FIRST=" << seed << " again; " << to_text(plan);
    points += play.outcome().points;
  }
  std::printf("%s schedules of %s points\n", std::to_string(count).c_str(),
              std::to_string(points / static_cast<int64_t>(count)).c_str());
}

TEST_F(Schedules, LocksHaveOwnersThatEnterStepBackAndAreRevoked) {
  constexpr int64_t kCount = 2'000;
  ownings = {};
  int64_t points = 0;
  for (uint64_t seed = 0; seed < kCount; ++seed) {
    const Plan plan = random_plan(seed);
    Play play(plan);
    ASSERT_EQ(play.run(scheduler_, seed, {.nobody_is_absent = true}), "");
    points += play.outcome().points;
  }
  EXPECT_GT(ownings.came, 1'000);
  EXPECT_GT(ownings.came, 10 * ownings.were_none);
  EXPECT_GT(ownings.were_none, 0);
  EXPECT_GT(ownings.revoked, 500);
  EXPECT_LT(points / kCount, 400) << "somebody spins long where an owner is outside";
}

// A call with timeout zero observes all completed calls; it does not wait for threads that have not run again yet.
TEST_F(Schedules, APutWithTimeoutZeroFindsTheRoomThatThoseWhoWaitedWillMake) {
  std::optional<Gate> gate;
  const Scheduler::Body taking = [&] { EXPECT_EQ(take(*gate), WaitResult::go); };
  const Scheduler::Body putting = [&] {
    while (gate->waiting_takes() != 2) Scheduler::pause();
    for (int i = 0; i < 4; ++i) EXPECT_EQ(put(*gate, kNow), WaitResult::go) << i;
    EXPECT_EQ(put(*gate, kNow), WaitResult::timed_out);
  };
  run_at_1000_seeds([&] {
    gate.emplace(2, 0);
    return std::vector{taking, taking, putting};
  });
}

TEST_F(Schedules, ATakeWithTimeoutZeroFindsTheElementOfAPutThatWaited) {
  std::optional<Gate> gate;
  const Scheduler::Body putting = [&] {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(put(*gate), WaitResult::go);
  };
  const Scheduler::Body taking = [&] {
    while (gate->waiting_puts() != 1) Scheduler::pause();
    for (int i = 0; i < 2; ++i) EXPECT_EQ(take(*gate, kNow), WaitResult::go) << i;
    EXPECT_EQ(take(*gate, kNow), WaitResult::timed_out);
  };
  run_at_1000_seeds([&] {
    gate.emplace(1, 0);
    return std::vector{putting, taking};
  });
}

// The other call need not wait: it works, as one that puts very many elements does.
TEST_F(Schedules, ACallWithTimeoutZeroGivesUpWhileAnotherWorksForLong) {
  std::optional<Gate> gate;
  bool works = false;
  bool is_tried = false;
  const Scheduler::Body working = [&] {
    const Wait wait;
    WaitContext context(wait);
    EXPECT_EQ(gate->begin_put(context), WaitResult::go);
    gate->commit_put(1);
    works = true;
    while (!is_tried) Scheduler::pause();
    gate->end_put();
  };
  const Scheduler::Body trying = [&] {
    while (!works) Scheduler::pause();
    const int64_t start = Scheduler::now();
    EXPECT_EQ(put(*gate, kNow), WaitResult::timed_out);
    EXPECT_GE(Scheduler::now() - start, 20'000'000);
    EXPECT_LT(Scheduler::now() - start, 25'000'000);
    is_tried = true;
  };
  scheduler_.most_points = 3'000'000;  // It spins again and again.
  run_at_seeds(5, [&] {
    works = is_tried = false;
    gate.emplace(-1, 0);
    return std::vector{working, trying};
  });
}

TEST_F(Schedules, WhoSawThatABatchWasGivenBackPutsNoMore) {
  std::optional<Gate> gate;
  bool has_put = false;
  const Scheduler::Body taking = [&] {
    while (gate->put_count() != 2) Scheduler::pause();
    take_and_give_back(*gate, 2, [&] {
      Scheduler::settle();
      while (!has_put) Scheduler::pause();
    });
  };
  const Scheduler::Body putting = [&] {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(put(*gate, kNow), WaitResult::go);
    for (const int64_t taken : {2, 0}) {
      while (gate->take_count() != taken) Scheduler::pause();
      EXPECT_EQ(put(*gate, kNow), has_put ? WaitResult::timed_out : WaitResult::go);
      has_put = true;
    }
  };
  run_at_1000_seeds([&] {
    has_put = false;
    gate.emplace(2, 0);
    return std::vector{taking, putting};
  });
}

TEST_F(Schedules, ASeedIsAlwaysTheSameSchedule) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Plan plan = random_plan(seed);
    Play once(plan);
    Play again(plan);
    ASSERT_EQ(once.run(scheduler_, seed), again.run(scheduler_, seed));
    EXPECT_EQ(once.outcome().trace, again.outcome().trace);
    EXPECT_EQ(once.outcome().points, again.outcome().points);
  }
}

TEST_F(Schedules, AWakeThatIsForgottenIsFound) {
  for (int64_t number = 0; number < 3; ++number) EXPECT_TRUE(is_found({.lost_wake = number})) << number;
}

TEST_F(Schedules, AFenceThatDoesNotReachTheOtherSideIsFound) { EXPECT_TRUE(is_found({.lame_fence = true})); }

// Of a thread that revokes an owner, waits for a lock or sleeps. Those of a close are for other processors than x86.
TEST_F(Schedules, AFenceThatIsForgottenIsFound) {
  for (const char* const function : {"revoke", "wait", "sleep_until"}) {
    EXPECT_TRUE(is_found({.forgotten_fence = function})) << function;
  }
}

TEST_F(Schedules, ASleeperThatDoesNotLookAgainIsFound) { EXPECT_TRUE(is_found({.no_second_look = true})); }

// Found where a thread is absent between its look at the owner and its mark.
TEST_F(Schedules, AMarkThatAFormerOwnerClearsIsFound) { EXPECT_TRUE(is_found({.shared_mark = true})); }

TEST_F(Schedules, ABatchThatIsNotGivenBackIsFound) { EXPECT_TRUE(is_found({}, true)); }

}  // namespace
}  // namespace headpond::internal

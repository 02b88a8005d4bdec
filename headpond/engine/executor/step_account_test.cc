// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "headpond/engine/executor/step_account_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kMs = 1'000'000;

// Steps of 10 ms of work; calls take what `call_ms` says of each.
void add_steps(StepAccount& account, int64_t count, const std::function<int64_t(int64_t)>& call_ms) {
  for (int64_t i = 0; i < count; ++i) {
    account.call_ends(3);
    account.add(call_ms(i) * kMs, {.ns = 10 * kMs});
  }
}

double ms(double ns) { return ns / kMs; }

TEST(StepAccount, TheFirstCallsAreTheStart) {
  StepAccount account;
  add_steps(account, 5, [](int64_t i) { return i == 0 ? 500 : 1; });
  const StepStats stats = account.stats();
  EXPECT_EQ(stats.steps, 5);
  EXPECT_EQ(ms(stats.startup_ns), 502);
  EXPECT_EQ(ms(stats.call_ns), 504);
  EXPECT_EQ(account.counted(), 2);
  EXPECT_EQ(ms(account.counted_call_ns()), 2);
  EXPECT_EQ(ms(account.counted_work_ns()), 20);
}

TEST(StepAccount, HelpIsPartOfTheCallInWhichItWas) {
  StepAccount account;
  account.add_helped(5 * kMs);
  account.add_helped(2 * kMs);
  EXPECT_EQ(account.stats().helped_ns, 0) << "the step has not ended";
  add_steps(account, 2, [](int64_t) { return 8; });
  EXPECT_EQ(ms(account.stats().helped_ns), 7);
  account.add_helped(3 * kMs);
  account.add(4 * kMs, {.ns = 1});  // A call without a batch.
  add_steps(account, 1, [](int64_t) { return 8; });
  EXPECT_EQ(ms(account.stats().helped_ns), 7);
}

TEST(StepAccount, TellsBurstsFromWaitingAllTheTime) {
  StepAccount even, uneven;
  add_steps(even, 3 + 16, [](int64_t i) { return i < 3 ? 0 : 5; });
  add_steps(uneven, 3 + 16, [](int64_t i) { return i % 8 == 4 ? 40 : 0; });
  EXPECT_EQ(ms(even.stats().sustained_ns), 80);
  EXPECT_EQ(ms(even.stats().burst_ns), 0);
  EXPECT_EQ(ms(uneven.stats().sustained_ns), 0);
  EXPECT_EQ(ms(uneven.stats().burst_ns), 80);
}

TEST(StepAccount, AGroupThatHasJustBegunCountsToo) {
  StepAccount account;
  add_steps(account, 3 + 4, [](int64_t i) { return i < 3 ? 0 : 5; });
  EXPECT_EQ(ms(account.stats().sustained_ns), 20);
  EXPECT_EQ(ms(account.stats().sustained_ns), 20) << "asking changes nothing";
}

TEST(StepAccount, TheFirstCallOfALaterEpochIsAnEdge) {
  StepAccount account;
  add_steps(account, 4, [](int64_t) { return 0; });
  account.epoch_begins();
  add_steps(account, 2, [](int64_t i) { return i == 0 ? 70 : 0; });
  EXPECT_EQ(account.edges(), 1);
  EXPECT_EQ(ms(account.stats().edge_ns), 70);
  EXPECT_EQ(ms(account.stats().burst_ns + account.stats().sustained_ns), 0);
}

TEST(StepAccount, HasTheTimesOfEachKindOfCall) {
  StepAccount account;
  add_steps(account, 3 + 16, [](int64_t i) { return i < 3 ? 100 : 5; });  // The start, and a group that waits.
  add_steps(account, 16, [](int64_t i) { return i % 8 == 4 ? 40 : 0; });  // A burst.
  account.epoch_begins();
  add_steps(account, 1 + 4, [](int64_t i) { return i == 0 ? 70 : 7; });  // An edge, and a group that goes on.
  const StepStats stats = account.stats();
  EXPECT_EQ(stats.startup.calls, 3);
  EXPECT_EQ(stats.sustained.calls, 16 + 4);
  EXPECT_EQ(stats.burst.calls, 16);
  EXPECT_EQ(stats.edge.calls, 1);
  const auto is_about = [](int64_t ns, int64_t of_ms) { return ns >= of_ms * kMs && ns <= of_ms * kMs * 9 / 8 + 1; };
  EXPECT_PRED2(is_about, stats.startup.p50_ns, 100);
  EXPECT_PRED2(is_about, stats.sustained.p50_ns, 5);
  EXPECT_PRED2(is_about, stats.sustained.p99_ns, 7);
  EXPECT_EQ(stats.burst.p50_ns, 0);
  EXPECT_PRED2(is_about, stats.burst.p99_ns, 40);
  EXPECT_PRED2(is_about, stats.edge.p99_ns, 70);
  EXPECT_EQ(account.stats().sustained.calls, 16 + 4) << "asking changes nothing";
}

TEST(StepAccount, EachStepHasItsKind) {
  StepAccount account;
  for (int round = 0; round < 40; ++round) {  // More than are kept.
    add_steps(account, round == 0 ? 3 + 15 : 15, [](int64_t) { return 5; });
    account.epoch_begins();
    add_steps(account, 2, [](int64_t) { return 5; });
  }
  add_steps(account, 5, [](int64_t) { return 0; });  // Among those that are not settled.
  const std::vector<StepTime> steps = account.recent();
  ASSERT_EQ(steps.size(), 512U);
  int64_t edges = 0, sustained = 0;
  for (const StepTime& step : steps) {
    edges += step.kind == WaitKind::epoch_edge ? 1 : 0;
    sustained += step.kind == WaitKind::sustained ? 1 : 0;
  }
  EXPECT_EQ(edges, 30);
  EXPECT_EQ(edges + sustained, 512 - (40 * 16 + 5) % 16) << "the last group waits for less than half";
}

TEST(StepAccount, AnEdgeStaysOneInThePlaceOfAnOlderStep) {
  StepAccount account;
  add_steps(account, 3 + 1, [](int64_t) { return 5; });  // A group has begun.
  for (int epoch = 0; epoch < 512; ++epoch) {
    account.epoch_begins();
    add_steps(account, 1, [](int64_t) { return 5; });
  }
  const auto edges = [&] {
    const std::vector<StepTime> steps = account.recent();
    return std::count_if(steps.begin(), steps.end(), [](auto& step) { return step.kind == WaitKind::epoch_edge; });
  };
  EXPECT_EQ(edges(), 512) << "the group has not ended";
  add_steps(account, 15, [](int64_t) { return 5; });
  EXPECT_EQ(edges(), 512 - 15);
}

TEST(StepAccount, ACallInProgressIsOfTheKindThatIsKnownSoFar) {
  StepAccount account;
  EXPECT_EQ(account.kind_now(), WaitKind::startup);
  add_steps(account, 3, [](int64_t) { return 5; });
  EXPECT_EQ(account.kind_now(), WaitKind::burst) << "not known yet";
  add_steps(account, 16, [](int64_t) { return 5; });
  EXPECT_EQ(account.kind_now(), WaitKind::sustained);
  account.epoch_begins();
  EXPECT_EQ(account.kind_now(), WaitKind::epoch_edge);
  EXPECT_STREQ(name_of(account.kind_now()), "epoch_edge");
}

TEST(StepAccount, ACallThatGaveNoBatchIsLeftOut) {
  StepAccount account;
  account.add(5 * kMs, {.ns = kMs});
  EXPECT_EQ(account.stats().steps, 0);
  account.call_ends(1);
  account.add(5 * kMs, {.ns = kMs});
  account.add(7 * kMs, {.ns = kMs});
  EXPECT_EQ(account.stats().steps, 1);
}

TEST(StepAccount, SharesAreThoseOfTheStepsThatWereMeasured) {
  StepAccount account;
  account.call_ends(0);
  account.add(0, {.ns = kMs});
  EXPECT_LT(account.cpu_share(), 0) << "unknown";
  EXPECT_LT(account.queue_share(), 0);
  EXPECT_LT(account.stats().work_queue_share, 0);
  account.call_ends(0);
  account.add(0, {.ns = 10 * kMs, .cpu_ns = 4.0 * kMs, .queue_ns = 1.0 * kMs});
  account.call_ends(0);
  account.add(0, {.ns = 10 * kMs});
  EXPECT_DOUBLE_EQ(account.cpu_share(), 0.4);
  EXPECT_DOUBLE_EQ(account.queue_share(), 0.1);
  EXPECT_DOUBLE_EQ(account.stats().work_cpu_share, 0.4);
  EXPECT_DOUBLE_EQ(account.stats().work_queue_share, 0.1);
}

TEST(StepAccount, KeepsTheLastSteps) {
  StepAccount account;
  add_steps(account, 3 + 600, [](int64_t i) { return i; });
  const auto recent = account.recent();
  ASSERT_EQ(recent.size(), 512U);
  EXPECT_EQ(recent.back().call_ns, 602.0F * kMs);
  EXPECT_EQ(recent.front().call_ns, 91.0F * kMs);
}

}  // namespace
}  // namespace headpond::internal

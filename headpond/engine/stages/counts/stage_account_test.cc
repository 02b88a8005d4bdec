// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "headpond/dataset/ops.h"
#include "headpond/engine/stages/counts/stage_account_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kMsInNs = 1'000'000;

// An account with nothing around it.
struct OneStage {
  EngineLock lock;
  StageCounters counters;
  Consumer consumer{true};
  StageAccount account{counters, consumer, false};

  StageStats stats() const HEADPOND_REQUIRES(engine_state) {
    StageStats stats;
    account.fill(stats);
    return stats;
  }
};

ReadyItem ready_item(int64_t bytes, bool is_next = true) {
  return {.elements = 2, .bytes = bytes, .begun_ns = 10, .ready_ns = 15, .is_next = is_next};
}

TEST(StageAccount, CountsIdleTimeByWhatItLacks) {
  for (const Room room : {Room::yes, Room::ahead_enough, Room::no_memory}) {
    OneStage stage;
    const Locked locked(stage.lock);
    Task task{.source = nullptr};
    stage.account.task_begins(task);
    EXPECT_TRUE(stage.account.task_ended(task, {.ended_ns = 1, .elapsed_ns = 1}));
    stage.account.set_room(room, now_ns() - 5 * kMsInNs);
    for (int i = 0; i < 2; ++i) stage.account.task_begins(task);  // The second one finds no idle time.
    const StageStats stats = stage.stats();
    const double full = room == Room::ahead_enough ? 5 * kMsInNs : 0,
                 refused = room == Room::no_memory ? 5 * kMsInNs : 0;
    EXPECT_GE(stats.totals.full_ns, full);
    EXPECT_GE(stats.totals.refused_ns, refused);
    EXPECT_EQ(stats.totals.full_ns > 0, full > 0);
    EXPECT_EQ(stats.totals.refused_ns > 0, refused > 0);
    EXPECT_EQ(stats.idle_p50_ns > 0, room != Room::yes);
  }
}

TEST(StageAccount, KnowsLongIdleTimesFromUsualOnes) {
  OneStage stage;
  const Locked locked(stage.lock);
  for (const int64_t ms : {5, 5, 5, 500}) {
    Task task{.source = nullptr};
    stage.account.set_room(Room::ahead_enough, now_ns() - ms * kMsInNs);
    stage.account.task_begins(task);
    (void)stage.account.task_ended(task, {.ended_ns = 1, .elapsed_ns = 1});
  }
  EXPECT_LT(stage.stats().idle_p50_ns, 250 * kMsInNs);
  EXPECT_GT(stage.stats().idle_p99_ns, 250 * kMsInNs);
}

// Of tasks that take twice the time when two run at once: what the stage's figures say.
std::optional<double> crowding_of(bool opens_item) {
  OneStage stage;
  const Locked locked(stage.lock);
  int64_t now = 0;
  const auto run = [&](int64_t at_once) HEADPOND_REQUIRES(engine_state) {
    std::vector<Task> tasks(at_once, Task{.source = nullptr, .count = 1, .opens_item = opens_item});
    for (Task& task : tasks) stage.account.task_begins(task);
    now += at_once * kMsInNs;
    for (Task& task : tasks) (void)stage.account.task_ended(task, {.ended_ns = now, .elapsed_ns = at_once * kMsInNs});
  };
  for (int i = 0; i < 1000; ++i) run(i / 100 % 2 + 1);
  StageFigures figures;
  stage.account.fill(figures);
  return figures.crowding;
}

TEST(StageAccount, ComparesTheTimesOfTasksThatMakeElements) {
  EXPECT_FALSE(crowding_of(true));
  EXPECT_TRUE(crowding_of(false)) << "control";
}

TEST(StageAccount, KnowsWhetherAnotherTaskRuns) {
  OneStage stage;
  const Locked locked(stage.lock);
  Task first{.source = nullptr, .count = 1}, second{.source = nullptr, .count = 1, .opens_item = true};
  stage.account.task_begins(first);
  stage.account.task_begins(second);
  EXPECT_FALSE(stage.account.task_ended(second, {.ended_ns = 7, .elapsed_ns = 4, .read_bytes = 30}));
  EXPECT_TRUE(stage.account.task_ended(first, {.ended_ns = 9, .elapsed_ns = 5, .assembled_ns = 3, .read_bytes = 12}));
  const StageTotals totals = stage.stats().totals;
  EXPECT_EQ(totals.open.wall_ns, 4);
  EXPECT_EQ(totals.make.wall_ns, 5 + 3) << "assembling counts as making";
  EXPECT_EQ(totals.read_bytes, 42);
}

// Of 64 calls of 10 ms at once, while the program waits for batches: whether fewer may begin after so many.
bool has_trial_of(bool may_try, int calls) {
  OneStage stage;
  const Locked locked(stage.lock);
  for (int i = 0; i < 100; ++i) {
    stage.consumer.steps.add(50 * kMsInNs, {.ns = kMsInNs});
    stage.consumer.steps.call_ends(0);
  }
  std::vector<Task> tasks(64, Task{.source = nullptr, .count = 1});
  for (Task& task : tasks) stage.account.task_begins(task);
  const int64_t start = now_ns();
  for (int i = 0; i < calls; ++i) {
    Task& task = tasks[i % tasks.size()];
    (void)stage.account.task_ended(task, {.ended_ns = start + i, .elapsed_ns = 10 * kMsInNs}, may_try);
    stage.account.task_begins(task);
  }
  return !stage.account.may_wait_at_once();
}

TEST(StageAccount, TriesFewerCallsOnlyWhereTheyMayBeLimited) {
  EXPECT_TRUE(has_trial_of(true, 200));
  EXPECT_FALSE(has_trial_of(true, 100)) << "control: too few were seen";
  EXPECT_FALSE(has_trial_of(false, 200));
}

TEST(StageAccount, MeasuresTheFirstTaskAndLongOnes) {
  OneStage stage;
  const Locked locked(stage.lock);
  Task first{.source = nullptr}, short_one{.source = nullptr}, long_one{.source = nullptr, .is_long = true};
  stage.account.task_begins(first);
  (void)stage.account.task_ended(first, {.ended_ns = 5, .elapsed_ns = 5});
  stage.account.task_begins(short_one);
  stage.account.task_begins(long_one);
  EXPECT_TRUE(first.is_measured);
  EXPECT_TRUE(first.asks_queue);
  EXPECT_FALSE(short_one.is_measured);
  EXPECT_FALSE(short_one.asks_queue) << "though no answer was kept of the first one";
  EXPECT_TRUE(long_one.is_measured);
}

TEST(StageAccount, IsStarvedUntilTheItemThatIsNextIsReady) {
  OneStage stage;
  stage.consumer.arrive(stage.lock);
  const Locked locked(stage.lock);
  stage.account.asked_too_early();
  stage.account.asked_too_early();
  stage.account.item_ready(ready_item(1, false));
  EXPECT_EQ(stage.stats().totals.starved_ns, 0) << "the consumer waits for an earlier one";
  ReadyItem next = ready_item(1);
  next.ready_ns = now_ns() + 50 * kMsInNs;
  stage.account.item_ready(next);
  const StageTotals totals = stage.stats().totals;
  EXPECT_EQ(totals.late, 1) << "one wait, however often it asks";
  EXPECT_GE(totals.starved_ns, 50 * kMsInNs);
  stage.account.item_ready(next);
  EXPECT_EQ(stage.stats().totals.starved_ns, totals.starved_ns) << "the wait has ended";
}

TEST(StageAccount, WhatIsTakenEndsTheWait) {
  OneStage stage;
  stage.consumer.arrive(stage.lock);
  const Locked locked(stage.lock);
  stage.account.asked_too_early();
  stage.account.item_taken(0, 0);
  ReadyItem late = ready_item(1);
  late.ready_ns = now_ns() + 50 * kMsInNs;
  stage.account.item_ready(late);
  EXPECT_EQ(stage.stats().totals.starved_ns, 0);
  EXPECT_EQ(stage.stats().totals.takes, 1);
  stage.account.asked_too_early();
  EXPECT_EQ(stage.stats().totals.late, 2) << "control: a wait of its own";
}

TEST(StageAccount, TheProgramWaitsSinceItsCall) {
  OneStage stage;
  StageAccount root(stage.counters, stage.consumer, true);
  stage.consumer.arrive(stage.lock);
  const int64_t arrived = stage.consumer.arrived_ns();
  const Locked locked(stage.lock);
  while (now_ns() < arrived + 5 * kMsInNs) {
  }
  ReadyItem next = ready_item(1);
  root.asked_too_early();
  next.ready_ns = now_ns();
  root.item_ready(next);
  EXPECT_GE(stage.stats().totals.starved_ns, 5 * kMsInNs);
  const double before = stage.stats().totals.starved_ns;
  const int64_t asked = now_ns();
  stage.account.asked_too_early();
  next.ready_ns = now_ns();
  stage.account.item_ready(next);
  EXPECT_LE(stage.stats().totals.starved_ns - before, static_cast<double>(next.ready_ns - asked))
      << "control: of another stage it begins when that is asked";
}

TEST(StageAccount, CountsReadyBytesAloneAndWithOtherBuffersOfItsStage) {
  OneStage stage;
  StageAccount other(stage.counters, stage.consumer, false);
  const Locked locked(stage.lock);
  stage.account.item_ready(ready_item(100));
  other.item_ready(ready_item(30));
  EXPECT_EQ(stage.account.ready_bytes(), 100);
  EXPECT_EQ(stage.stats().ready_bytes, 130);
  stage.account.item_taken(100, 0);
  other.item_dropped(30);
  EXPECT_EQ(stage.account.ready_bytes() + other.ready_bytes(), 0);
  EXPECT_EQ(stage.stats().ready_bytes, 0);
  stage.account.item_ready(ready_item(20));
  stage.account.item_dropped(20);
  EXPECT_EQ(stage.stats().ready_bytes_peak, 130);
  EXPECT_EQ(stage.stats().elements, 4) << "of this buffer";
  EXPECT_EQ(stage.stats().totals.elements, 6);
  EXPECT_EQ(stage.account.id(), other.id());
}

TEST(StageAccount, KnowsHowFarAheadItWas) {
  OneStage stage;
  const Locked locked(stage.lock);
  EXPECT_EQ(stage.stats().mean_ready + stage.stats().mean_ahead, 0) << "of nothing";
  for (const int64_t ahead : {1, 2, 6}) stage.account.item_opened(ahead);
  for (const int64_t ready : {4, 1}) stage.account.item_taken(0, ready);
  EXPECT_EQ(stage.stats().mean_ahead, 3);
  EXPECT_EQ(stage.stats().mean_ready, 2.5);
}

TEST(StageAccount, GivesAVerdictTimesOfItemsAndErrors) {
  OneStage stage;
  const Locked locked(stage.lock);
  stage.account.add_holes(3);
  stage.account.add_error();
  stage.account.add_read(7);
  const Dataset dataset = range(3) | map([](int64_t x) { return x; }, {.name = "decode"});
  stage.account.set_operators({{.op = "map", .ns = 4}}, {dataset.node().get()});
  stage.account.item_ready(ready_item(1));
  StageFigures figures;
  stage.account.fill(figures);
  EXPECT_EQ(figures.item_ns, std::vector<float>{5});
  EXPECT_EQ(figures.operators.at(0).op, "map");
  EXPECT_EQ(figures.operators.at(0).title, "map(decode)");
  EXPECT_EQ(stage.stats().operators.at(0).title, "map(decode)");
  EXPECT_EQ(stage.account.nodes().size(), 1U);
  EXPECT_EQ(figures.id, stage.account.id());
  EXPECT_EQ(figures.totals.holes, 3);
  EXPECT_EQ(figures.totals.errors, 1);
  EXPECT_EQ(figures.totals.read_bytes, 7);
  EXPECT_FALSE(figures.crowding);
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "headpond/engine/verdict/figures_test_internal.h"
#include "headpond/engine/verdict/rules_internal.h"

namespace headpond::internal {
namespace {

TEST(Judge, IsSureWhereTheModelAgrees) {
  const Verdict verdict = judge(run_of(44, 128));
  EXPECT_EQ(verdict.confidence, 1);
  ASSERT_FALSE(verdict.changes.empty());
  EXPECT_GT(verdict.changes[0].low, 1.3);
  EXPECT_LT(verdict.changes[0].high, 1.7);
}

TEST(Judge, KnowsOnlyTheLimitsWhereTheModelIsFarOff) {
  Figures figures = serial_run();
  figures.call_ns *= 3;
  figures.time_ns = figures.call_ns + figures.work_ns;
  figures.stages[0].totals.starved_ns = figures.call_ns;
  figures.stages[0].totals.open.blocked_ns = 0;
  figures.stages[0].totals.open.wall_ns = figures.time_ns;
  const Verdict verdict = judge(figures);
  EXPECT_EQ(verdict.code, ReasonCode::serial_stage);
  EXPECT_LT(verdict.confidence, 0.5);
  ASSERT_FALSE(verdict.changes.empty());
  EXPECT_EQ(verdict.changes[0].low, 1);
  EXPECT_NEAR(verdict.changes[0].high, 1 / (1 - verdict.wait_share), 0.01);
}

TEST(Judge, NamesTheStageThatStandsStill) {
  Figures figures = run_of(44, 128);
  figures.is_stalled = true;
  figures.stalled_stage = "generator";
  EXPECT_EQ(judge(figures).stage, "generator");
}

TEST(Judge, NamesTheOperatorThatWorksOnOneThread) {
  Figures figures = serial_run();
  figures.stages[0].serial = {"read", ""};
  EXPECT_EQ(judge(figures).op, "read") << "though all threads together spend more on another";
  EXPECT_EQ(judge(run_of(44, 128)).op, "map") << "where several threads work, that is the one";
}

TEST(Judge, TellsTheOperatorFromOthersOfItsKind) {
  Figures figures = run_of(44, 128);
  figures.stages[0].operators = {{"read", 1}, {"map", 10}, {"map", 5}};
  EXPECT_EQ(judge(figures).op_title, "");
  figures.stages[0].operators[1].title = "map(decode)";
  figures.stages[0].operators[2].title = "map(augment)";
  const Verdict verdict = judge(figures);
  EXPECT_EQ(verdict.op, "map");
  EXPECT_EQ(verdict.op_title, "map(decode)");
  EXPECT_THAT(verdict.to_string(), testing::HasSubstr("; operator: map(decode)\n"));
}

TEST(Judge, IsLessSureOfARunThatChanged) {
  Figures figures = run_of(44, 128);
  for (size_t i = 0; i < figures.recent.size() / 2; ++i) figures.recent[i].call_ns = 0;
  EXPECT_EQ(judge(figures).confidence, 0.5);
}

TEST(Judge, IsLessSureWithoutACounter) {
  Figures figures = run_of(44, 128);
  figures.others = -1;
  EXPECT_DOUBLE_EQ(judge(figures).confidence, 0.85);
}

TEST(Judge, IsLessSureOfTwoDemandsThatAreAlike) {
  const auto with_opening_ms = [](double ms) {
    Figures figures = run_of(44, 128);
    figures.stages[0].totals.open = {
        .tasks = 400, .wall_ns = 400 * ms * kMsNs, .cpu_ns = 400 * 1 * kMsNs, .blocked_ns = 400 * (ms - 1) * kMsNs};
    return judge(figures);
  };
  EXPECT_LT(with_opening_ms(58).confidence, 1);
  EXPECT_THAT(with_opening_ms(58).findings,
              testing::ElementsAre("a second part limits nearly as much: computing needs 64.5 ms a step, work on one "
                                   "thread at a time 58 ms"));
  EXPECT_LT(with_opening_ms(64).confidence, with_opening_ms(58).confidence);
  EXPECT_THAT(with_opening_ms(64).findings,
              testing::ElementsAre(testing::StartsWith("two parts limit about equally: computing needs 64.5 ms")));
  EXPECT_THAT(judge(run_of(44, 128)).findings, testing::IsEmpty()) << "control: one demand is clearly the largest";
}

// Others have a processor, and a fifth of its tasks' time they wait for one.
Figures among_others(Figures figures) {
  figures.others = 1;
  figures.idle = 0;
  TaskTimes& make = figures.stages[0].totals.make;
  make.queue_ns = std::max(0.2 * make.wall_ns, 1.0);
  figures.program_queue_share = 0.2;
  return figures;
}

TEST(Judge, ABusyMachineHidesNoOtherReason) {
  using testing::HasSubstr;
  Figures serial = serial_run();
  serial.stages[0].serial = {"from_generator", "from_generator(lines)"};
  const Verdict verdict = judge(among_others(serial));
  EXPECT_EQ(verdict.code, ReasonCode::machine_busy);
  EXPECT_TRUE(verdict.changes.empty()) << "what it gains was measured among others";
  ASSERT_EQ(verdict.findings.size(), 2U);
  EXPECT_THAT(verdict.findings[0], HasSubstr("1.0 of the 2 processors"));
  EXPECT_THAT(verdict.findings[1], HasSubstr("besides: serial_stage, "));
  EXPECT_THAT(verdict.findings[1],
              HasSubstr("in read|map|batch (from_generator(lines)); change: move the work into a map"));
  EXPECT_THAT(judge(among_others(run_of(44, 128))).findings.at(1), HasSubstr("besides: cpu_bound"));
  EXPECT_THAT(judge(among_others(run_of(44, 60))).findings.at(1), HasSubstr("besides: the program waits for read|"))
      << "no other rule holds";
  EXPECT_TRUE(judge(serial).findings.empty()) << "control: nobody else computes";
}

TEST(Judge, WhereTheProcessorsLimitWhatComputesMostIsNamed) {
  Figures figures = run_of(44, 28);
  figures.stages[0].name = "filter";
  figures.stages.push_back(run_of(44, 100).stages[0]);
  StageFigures& below = figures.stages[1];
  below.totals.starved_ns = 0;
  below.operators = {{.op = "computes", .ns = 400, .cpu_ns = 400}, {.op = "sleeps", .ns = 1000, .cpu_ns = 10}};
  const Verdict verdict = judge(figures);
  EXPECT_EQ(verdict.code, ReasonCode::cpu_bound);
  EXPECT_EQ(verdict.stage, below.name) << "though the program waits for the filter";
  EXPECT_EQ(verdict.op, "computes");
  EXPECT_EQ(judge(run_of(44, 128)).stage, "read|map|batch") << "control";
}

TEST(Judge, WithoutOthersTheStepMayBeWhatTakesLongest) {
  Figures delayed = serial_run();
  TaskTimes& open = delayed.stages[0].totals.open;
  open.cpu_ns = open.wall_ns / 4;  // 15 ms of a step of 20; else it waits for a processor.
  open.queue_ns = open.wall_ns - open.cpu_ns;
  const Verdict verdict = judge(among_others(delayed));
  EXPECT_EQ(verdict.code, ReasonCode::machine_busy);
  EXPECT_THAT(verdict.findings.at(1), testing::HasSubstr("the program would hardly wait"));
  open.queue_ns /= 10;
  EXPECT_THAT(judge(among_others(delayed)).findings.at(1), testing::HasSubstr("besides: serial_stage"))
      << "control: others are not what it waits for";
}

TEST(Judge, TellsNoChangeBelowFivePercent) {
  Figures figures = run_of(1.2, 42.4);
  EXPECT_EQ(judge(figures).code, ReasonCode::cpu_bound);
  ASSERT_FALSE(judge(figures).changes.empty()) << "control: 6 %";
  figures.work_ns = 400 * 20.3 * kMsNs;
  EXPECT_TRUE(judge(figures).changes.empty());
}

TEST(Judge, SharesOfWaitsAreThoseOfTheWholeTime) {
  Figures figures = run_of(20, 80);
  figures.startup_ns = figures.time_ns;
  const Verdict verdict = judge(figures);
  EXPECT_DOUBLE_EQ(verdict.waits.startup, 0.5);
  EXPECT_DOUBLE_EQ(verdict.waits.sustained, 0.25);
  EXPECT_DOUBLE_EQ(verdict.wait_share, 0.5);
}

}  // namespace
}  // namespace headpond::internal

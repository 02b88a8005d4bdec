// SPDX-License-Identifier: Apache-2.0
// Each rule holds for a run that it is about, and not for one that differs in what the rule looks at.
#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "headpond/engine/verdict/figures_test_internal.h"
#include "headpond/engine/verdict/rules_internal.h"

namespace headpond::internal {
namespace {

TEST(RunRules, ARunThatStandsStillIsStalled) {
  Figures figures = run_of(44, 128);
  figures.is_stalled = true;
  figures.stalled_in = "thread headpond/0: map does not return";
  EXPECT_EQ(code_of(figures), ReasonCode::stalled);
  EXPECT_THAT(judge(figures).findings, testing::ElementsAre(figures.stalled_in));
}

TEST(RunRules, TooFewStepsGiveNoReason) {
  EXPECT_EQ(code_of(run_of(44, 128), [](Figures& f) { f.steps = 19; }), ReasonCode::none);
  EXPECT_EQ(code_of(run_of(44, 128), [](Figures& f) { f.time_ns = 1.9e9; }), ReasonCode::none);
  EXPECT_NE(code_of(run_of(44, 128)), ReasonCode::none) << "control";
}

TEST(RunRules, AStepThatLosesItsProcessorToThePool) {
  const auto loses = [](Figures& f) { f.program_queue_share = 0.1; };
  EXPECT_EQ(code_of(run_of(0.1, 15), loses), ReasonCode::oversubscribed);
  EXPECT_EQ(code_of(run_of(0.1, 1), loses), ReasonCode::device_bound) << "the pool did less than was lost";
  EXPECT_THAT(setting_of(run_of(0.1, 15), loses), "threads=1");
  EXPECT_THAT(setting_of(run_of(0.1, 15),
                         [](Figures& f) {
                           f.program_queue_share = 0.1;
                           f.threads = 1;
                         }),
              "none")
      << "there is no thread less";
  EXPECT_EQ(code_of(run_of(0.1, 15),
                    [](Figures& f) {
                      f.program_queue_share = 0.1;
                      f.others = 1;
                    }),
            ReasonCode::device_bound)
      << "to other processes";
}

TEST(RunRules, OnlyTheStartTookLong) {
  EXPECT_EQ(code_of(run_of(0.1, 10), [](Figures& f) { f.startup_ns = 5e9; }), ReasonCode::startup);
  EXPECT_EQ(code_of(run_of(0.1, 10), [](Figures& f) { f.startup_ns = 1e9; }), ReasonCode::device_bound);
}

TEST(RunRules, AStepThatHardlyWaitsIsDeviceBound) {
  EXPECT_EQ(code_of(run_of(0.9, 10)), ReasonCode::device_bound);
  EXPECT_NE(code_of(run_of(1.2, 42)), ReasonCode::device_bound) << "5.7 %";
  EXPECT_TRUE(judge(run_of(0.9, 10)).changes.empty());
}

TEST(RunRules, OthersHaveTheProcessors) {
  const auto busy = [](Figures& f) {
    f.others = 1;
    f.idle = 0;
    f.stages[0].totals.make.queue_ns = 0.2 * f.stages[0].totals.make.wall_ns;
  };
  const auto unharmed = [](Figures& f) {
    f.others = 1;
    f.idle = 0;
  };
  EXPECT_EQ(code_of(run_of(44, 128), busy), ReasonCode::machine_busy);
  EXPECT_EQ(code_of(run_of(44, 128), unharmed), ReasonCode::cpu_bound) << "each thread has a processor";
  EXPECT_EQ(code_of(run_of(44, 128),
                    [&](Figures& f) {
                      busy(f);
                      f.idle = 0.5;
                    }),
            ReasonCode::cpu_bound)
      << "some are idle";
}

TEST(RunRules, EpochsBeginSlowly) {
  const auto edges = [](Figures& f) {
    f.edges = 4;
    f.kinds.edge_ns = 0.9 * f.call_ns;
  };
  EXPECT_EQ(code_of(run_of(10, 5), edges), ReasonCode::epoch_edge);
  EXPECT_NE(code_of(run_of(10, 5), [](Figures& f) { f.kinds.edge_ns = 0.9 * f.call_ns; }), ReasonCode::epoch_edge)
      << "no epoch ended";
  const auto gain_of_one = [&](Figures figures) {
    edges(figures);
    return judge(figures).changes.empty() ? 1 : judge(figures).changes[0].gain;
  };
  EXPECT_NEAR(gain_of_one(run_of(10, 5)), 30.0 / 21, 0.01);
  EXPECT_EQ(gain_of_one(run_of(10, 60)), 1) << "the processors make no more, whatever the epochs are";
  Figures limited = run_of(10, 60);
  edges(limited);
  EXPECT_THAT(judge(limited).findings, testing::ElementsAre(testing::HasSubstr("one long epoch gains little")));
}

TEST(RunRules, ThereIsNoMemoryForMore) {
  Figures figures = run_of(10, 20);
  figures.stages[0].totals.refused_ns = 0.2 * figures.time_ns;
  EXPECT_EQ(code_of(figures), ReasonCode::memory_limited);
  EXPECT_EQ(setting_of(figures), "memory=2000000000");
  EXPECT_THAT(judge(figures).findings, testing::ElementsAre(testing::HasSubstr("a batch takes 1.0 MB")));
  const auto holds = [](Figures& f) { f.held_by_program = 6e8; };
  EXPECT_EQ(code_of(run_of(10, 20),
                    [&](Figures& f) {
                      holds(f);
                      f.stages[0].totals.refused_ns = 0.05 * f.time_ns;
                    }),
            ReasonCode::memory_limited);
  EXPECT_NE(code_of(run_of(10, 20), holds), ReasonCode::memory_limited) << "there is room for what is made";
  EXPECT_EQ(code_of(run_of(10, 20), [](Figures& f) { f.swapped_per_s = 20; }), ReasonCode::memory_limited);
  EXPECT_NE(code_of(run_of(10, 20)), ReasonCode::memory_limited) << "control";
}

TEST(RunRules, TheLargestFiguresAreToldWhereNothingLimits) {
  const Verdict verdict = judge(run_of(44, 60));
  EXPECT_EQ(verdict.code, ReasonCode::none);
  EXPECT_EQ(verdict.evidence.size(), 3U);
  EXPECT_TRUE(verdict.changes.empty());
  EXPECT_THAT(verdict.findings, testing::Contains(testing::HasSubstr(
                                    "waits for read|map|batch, in which map takes most; of the time of its threads it "
                                    "computes 100 %")));
}

TEST(RunRules, WaitsInBurstsAreSaidToBeSo) {
  Figures figures = run_of(44, 60);
  const auto said = [](const char* text) { return testing::Contains(testing::HasSubstr(text)); };
  EXPECT_THAT(judge(figures).findings, testing::Not(said("bursts")));
  figures.kinds.burst_ns = figures.call_ns;
  figures.kinds.sustained_ns = 0;
  figures.recent[7].call_ns = 340 * kMsNs;
  EXPECT_THAT(judge(figures).findings, said("in bursts, the longest of the last 400 steps 340 ms"));
}

}  // namespace
}  // namespace headpond::internal

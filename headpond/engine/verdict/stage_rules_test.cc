// SPDX-License-Identifier: Apache-2.0
// Each rule holds for a run that it is about, and not for one that differs in what the rule looks at.
#include <gmock/gmock.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "headpond/engine/verdict/figures_test_internal.h"
#include "headpond/engine/verdict/rules_internal.h"

namespace headpond::internal {
namespace {

TEST(StageRules, TeamsOfThreadsInsideTakeTheProcessors) {
  const auto teams = [](Figures& f) {
    f.process_cpus_in_waits = 2;
    f.own_cpus_in_waits = 0.5;
  };
  EXPECT_EQ(code_of(run_of(44, 32, 96), teams), ReasonCode::oversubscribed);
  EXPECT_EQ(code_of(run_of(44, 128), [](Figures& f) { f.process_cpus_in_waits = f.own_cpus_in_waits = 2; }),
            ReasonCode::cpu_bound)
      << "only the Loader's own threads";
  const auto some = [](Figures& f) {
    f.process_cpus_in_waits = 1;
    f.own_cpus_in_waits = 0.85;
  };
  EXPECT_EQ(code_of(run_of(44, 128), some), ReasonCode::cpu_bound) << "another thread, but nobody waits for it";
  EXPECT_EQ(code_of(run_of(44, 128),
                    [&](Figures& f) {
                      some(f);
                      f.stages[0].totals.make.queue_ns = 0.2 * f.stages[0].totals.make.wall_ns;
                    }),
            ReasonCode::oversubscribed);
}

TEST(StageRules, WithoutTeamsWhatTheyComputeIsLeftButNotWhatTheSystemTakesForThem) {
  Figures figures = run_of(44, 32, 96);
  figures.process_cpus_in_waits = 2;
  figures.own_cpus_in_waits = 0.5;
  figures.system_cpus_in_waits = 0.8;
  ASSERT_EQ(code_of(figures), ReasonCode::oversubscribed);
  // Of 64 ms a step, two processors: 32 ms by the Loader's threads and 96 ms by others, of which the system may have
  // 0.8 - 0.5 processors' worth.
  EXPECT_NEAR(judge(figures).changes.at(0).gain, 64 / ((32 + 96 - 0.3 * 64) / 2), 0.01);
  figures.stages[0].totals.open.cpu_ns = 400 * 58 * kMsNs;
  EXPECT_NEAR(judge(figures).changes.at(0).gain, 64.0 / 58, 0.01) << "one thread at a time needs so long";
  figures.stages[0].totals.open = {};
  figures.system_cpus_in_waits = 0.5;
  EXPECT_TRUE(judge(figures).changes.empty()) << "the Loader's own threads may have used all of that";
  EXPECT_THAT(judge(figures).findings, testing::ElementsAre(testing::HasSubstr("one thread")));
}

TEST(StageRules, CallsWaitInALock) {
  Figures figures = run_of(44, 64, 64);
  figures.stages[0].seen = 100;
  figures.stages[0].seen_blocked = figures.stages[0].seen_locked = 50;
  EXPECT_EQ(code_of(figures), ReasonCode::user_lock);
  EXPECT_EQ(judge(figures).op, "map");
  EXPECT_NE(code_of(figures, [](Figures& f) { f.stages[0].seen_locked = 0; }), ReasonCode::user_lock);
  // Nobody holds what all of them wait for: the results of a library's own threads.
  Figures awaited = run_of(44, 1, 127);
  awaited.stages[0].seen = awaited.stages[0].seen_blocked = awaited.stages[0].seen_locked = 100;
  EXPECT_EQ(code_of(awaited), ReasonCode::latency_bound);
  EXPECT_EQ(code_of(awaited, [](Figures& f) { f.stages[0].crowding = 0.95; }), ReasonCode::user_lock)
      << "more calls are as slow together";
  EXPECT_NE(code_of(figures, [](Figures& f) { f.stages[0].crowding = 0.1; }), ReasonCode::user_lock)
      << "more calls get more done";
}

// One at a time would compute here; but it is the program's thread that has the lock then.
TEST(StageRules, FunctionsWaitForTheInterpretersLock) {
  Figures figures = run_of(40, 20, 40);
  figures.stages[0].totals.make.lock_ns = 0.3 * figures.stages[0].totals.make.wall_ns;
  EXPECT_EQ(code_of(figures), ReasonCode::user_lock);
  EXPECT_EQ(judge(figures).op, "map");
  EXPECT_THAT(judge(figures).findings, testing::Contains(testing::HasSubstr("one at a time")));
  const auto wait_less = [](Figures& f) { f.stages[0].totals.make.lock_ns *= 0.8; };
  EXPECT_NE(code_of(figures, wait_less), ReasonCode::user_lock);
  Figures crowded = run_of(40, 58, 40);
  crowded.stages[0].totals.make.lock_ns = 0.3 * crowded.stages[0].totals.make.wall_ns;
  EXPECT_EQ(code_of(crowded), ReasonCode::user_lock);
  EXPECT_NE(code_of(crowded, [](Figures& f) { f.processors = f.threads = 1; }), ReasonCode::user_lock)
      << "they wait for the processor";
  Figures one = run_of(40, 40, 10);
  one.stages[0].totals.make.lock_ns = 0.15 * one.stages[0].totals.make.wall_ns;
  one.time_ns = one.stages[0].totals.make.cpu_ns / 0.95;  // One thread computes all the time.
  EXPECT_EQ(code_of(one), ReasonCode::user_lock);
  EXPECT_NE(code_of(one, [](Figures& f) { f.stages[0].totals.make.cpu_ns *= 0.5; }), ReasonCode::user_lock);
}

// Each computes for 36 ms, and for 24 ms waits for the other one.
TEST(StageRules, AmongFewAllButOneWaitInALock) {
  Figures figures = run_of(44, 1, 73);  // 1.16 tasks at once.
  StageFigures& stage = figures.stages[0];
  stage.crowding = 1;
  stage.seen = 204;
  stage.seen_blocked = 201;
  stage.seen_locked = 29;
  EXPECT_EQ(code_of(figures), ReasonCode::user_lock);
  stage.seen_locked = 5;
  EXPECT_EQ(code_of(figures), ReasonCode::bandwidth_bound) << "control: they sleep, for a limit that they share, say";
  figures.batch_bytes = 1000;
  EXPECT_THAT(judge(figures).changes.at(0).what, testing::HasSubstr("half as many calls")) << "1 kB limits nothing";
}

TEST(StageRules, CallsWaitInALockForAPartOfTheirTime) {
  Figures figures = run_of(40, 72, 48);
  figures.stages[0].seen = 100;
  figures.stages[0].seen_blocked = figures.stages[0].seen_locked = 40;
  figures.own_cpus_in_waits = figures.process_cpus_in_waits = 1.2;
  EXPECT_EQ(code_of(figures), ReasonCode::user_lock);
  EXPECT_NEAR(judge(figures).changes[0].gain, 60.0 / 36, 0.01);
  EXPECT_LT(judge(figures).confidence, 0.5) << "they may wait for threads that wait";
  EXPECT_NE(code_of(figures, [](Figures& f) { f.stages[0].seen_locked = 10; }), ReasonCode::user_lock);
  EXPECT_NE(code_of(figures, [](Figures& f) { f.process_cpus_in_waits = 1.5; }), ReasonCode::user_lock)
      << "they may wait for threads of a library";
  EXPECT_NE(code_of(figures, [](Figures& f) { f.process_cpus_in_waits = f.own_cpus_in_waits = -1; }),
            ReasonCode::user_lock)
      << "the system does not say who computes";
}

TEST(StageRules, OneThreadAtATime) {
  EXPECT_EQ(code_of(serial_run()), ReasonCode::serial_stage);
  EXPECT_NE(code_of(serial_run(), [](Figures& f) { f.stages[0].is_made = true; }), ReasonCode::serial_stage)
      << "several such datasets may run at once";
  EXPECT_EQ(code_of(serial_run(), [](Figures& f) { f.stages[0].has_one_file = true; }), ReasonCode::single_file);
  EXPECT_EQ(setting_of([] {
              Figures one_file = serial_run();
              one_file.stages[0].has_one_file = true;
              return one_file;
            }()),
            "shards=3");
  EXPECT_NE(code_of(serial_run(), [](Figures& f) { f.stages[0].totals.open.wall_ns /= 2; }), ReasonCode::serial_stage)
      << "half of the time it has nothing to do";
}

// Its thread hands over each element, or works on the stage that takes them, for a quarter of the time.
TEST(StageRules, OneThreadAtATimeMostly) {
  Figures figures = serial_run();
  TaskTimes& open = figures.stages[0].totals.open;
  open.wall_ns = open.cpu_ns = 400 * 45 * kMsNs;
  EXPECT_EQ(code_of(figures), ReasonCode::serial_stage);
  EXPECT_LT(judge(figures).confidence, 0.8);
  EXPECT_NEAR(judge(figures).changes.at(0).gain, 45.0 / 22.5, 0.01) << "two processors compute it then";
  EXPECT_EQ(code_of(figures, [](Figures& f) { f.stages[0].has_one_file = true; }), ReasonCode::single_file);
  const auto is_none = [&](auto alter) { return code_of(figures, alter) == ReasonCode::none; };
  EXPECT_TRUE(is_none([](Figures& f) { f.stages[0].totals.full_ns = 0.2 * f.time_ns; })) << "it is ahead at times";
  EXPECT_TRUE(is_none([](Figures& f) {
    f.stages.push_back(f.stages[0]);
    f.stages[1].totals.starved_ns = 0;
    f.stages[1].totals.open.cpu_ns = 400 * 50 * kMsNs;
  })) << "another part takes longer";
  EXPECT_TRUE(is_none([](Figures& f) { f.stages[0].totals.open.wall_ns = 400 * 35 * kMsNs; }));
}

TEST(StageRules, TheNextPartOnOneThreadLimitsWhatAChangeGains) {
  Figures two = serial_run();
  TaskTimes& open = two.stages[0].totals.open;
  open.blocked_ns = std::exchange(open.cpu_ns, 0);
  EXPECT_NEAR(judge(two).changes.at(0).gain, 3, 0.01) << "control: only the program's own step remains";
  two.stages.push_back(two.stages[0]);
  two.stages[1].totals.starved_ns = 0;
  two.stages[1].totals.open.wall_ns = two.stages[1].totals.open.blocked_ns = 400 * 50 * kMsNs;
  EXPECT_EQ(code_of(two), ReasonCode::serial_stage);
  const Verdict verdict = judge(two);
  EXPECT_NEAR(verdict.changes.at(0).gain, 60.0 / 50, 0.01);
  EXPECT_THAT(verdict.findings, testing::Contains(testing::HasSubstr("another part on one thread at a time 50 ms")));
  two.stages[0].has_one_file = true;
  EXPECT_NEAR(judge(two).changes.at(0).gain, 60.0 / 50, 0.01);
}

TEST(StageRules, WhatComputesUnderTheInterpretersLockMayGainNothingInAMap) {
  Figures python = serial_run();
  python.stages[0].totals.open.lock_ns = 1;
  const Verdict verdict = judge(python);
  EXPECT_THAT(verdict.changes.at(0).what, testing::HasSubstr("interpreter's lock"));
  EXPECT_EQ(verdict.changes[0].low, 1);
  EXPECT_GT(judge(serial_run()).changes.at(0).low, 1.5) << "control";
  python.stages[0].totals.open.cpu_ns /= 3;
  python.stages[0].totals.open.blocked_ns = 400 * 40 * kMsNs;
  EXPECT_GT(judge(python).changes.at(0).low, 1.5) << "what sleeps does so beside others";
}

TEST(StageRules, AFunctionOfBatchesTakesTheTime) {
  Figures figures = run_of(10, 60);
  figures.stages[0].is_above_batch = true;
  EXPECT_EQ(code_of(figures), ReasonCode::slow_batch_function);
  figures.stages.push_back(figures.stages[0]);
  figures.stages[1].totals.make.wall_ns *= 3;
  figures.stages[1].totals.starved_ns = 0;
  EXPECT_NE(code_of(figures), ReasonCode::slow_batch_function) << "the stage before it does more";
}

TEST(StageRules, TooFewAreMadeAhead) {
  Figures figures = run_of(15, 15);
  figures.run_ahead = 0;
  figures.stages[0].is_capped = true;
  figures.stages[0].totals.full_ns = 0.5 * figures.time_ns;
  EXPECT_EQ(code_of(figures), ReasonCode::window_too_small);
  EXPECT_EQ(setting_of(figures), "run_ahead=1");
  EXPECT_NE(code_of(figures, [](Figures& f) { f.stages[0].is_capped = false; }), ReasonCode::window_too_small);
  EXPECT_NE(code_of(figures, [](Figures& f) { f.stages[0].totals.full_ns = 0; }), ReasonCode::window_too_small);
}

TEST(StageRules, CallsThatShareSomethingAreTooSlowTogether) {
  Figures shared = run_of(30, 1, 400), alone = shared;
  shared.stages[0].crowding = 0.95;
  alone.stages[0].crowding = 0.1;
  EXPECT_EQ(code_of(shared), ReasonCode::bandwidth_bound);
  EXPECT_THAT(judge(shared).findings, testing::Not(testing::Contains(testing::HasSubstr("read from files"))));
  shared.stages[0].totals.read_bytes = shared.steps * 3'000'000;
  EXPECT_THAT(judge(shared).findings, testing::Contains(testing::HasSubstr("MB read from files")));
  EXPECT_THAT(judge(shared).changes.at(0).what, testing::HasSubstr("smaller types, which alter values"));
  EXPECT_EQ(code_of(alone), ReasonCode::latency_bound);
  EXPECT_EQ(code_of(shared, [](Figures& f) { f.stages[0].crowding = 0.6; }), ReasonCode::none) << "neither";
}

TEST(StageRules, CallsThatWaitNeedMoreAtOnce) {
  Figures figures = run_of(60, 0.1, 160);
  figures.io_threads = figures.io_ceiling = 2;
  EXPECT_EQ(code_of(figures), ReasonCode::latency_bound);
  EXPECT_EQ(setting_of(figures), "io_threads=9");
  EXPECT_NEAR(judge(figures).changes[0].gain, 4, 0.01);
  figures.stages[0].is_blocking = false;
  figures.io_threads = 0;
  figures.io_ceiling = 256;
  EXPECT_EQ(setting_of(figures), "blocking=true") << "compute threads wait";
  EXPECT_NEAR(judge(figures).changes[0].gain, 4, 0.01);
  EXPECT_EQ(setting_of(figures, [](Figures& f) { f.stages[0].is_blocking = true; }), "none")
      << "more I/O threads may be started, and the Loader does so if it helps";
}

TEST(StageRules, TheProcessorsAreBusy) {
  const Figures figures = run_of(44, 128);
  EXPECT_EQ(code_of(figures), ReasonCode::cpu_bound);
  EXPECT_EQ(judge(figures).changes[0].what, "one more processor");
  EXPECT_NEAR(judge(figures).changes[0].gain, 1.5, 0.01);
  EXPECT_EQ(code_of(run_of(44, 60)), ReasonCode::none) << "threads have time";
}

TEST(StageRules, TheProcessorsAreUsedUpByTasksThatWaitAsWell) {
  Figures figures = run_of(44, 128, 400);
  figures.io_threads = 32;
  EXPECT_EQ(code_of(figures), ReasonCode::cpu_bound);
  EXPECT_EQ(judge(figures).changes[0].what, "one more processor");
  EXPECT_EQ(code_of(figures, [](Figures& f) { f.stages[0].totals.make.cpu_ns /= 2; }), ReasonCode::latency_bound)
      << "half of the processors' time is left";
  EXPECT_EQ(code_of(figures,
                    [](Figures& f) {
                      f.processors = 16;
                      f.threads = 2;
                    }),
            ReasonCode::latency_bound)
      << "14 processors have nothing to do";
  EXPECT_EQ(code_of(run_of(44, 106)), ReasonCode::none) << "it computes only, and threads have time";
}

TEST(StageRules, CallsThatWaitMayLimitMoreThanTheProcessorsTheyUse) {
  Figures figures = run_of(44, 104, 408);
  figures.io_threads = figures.io_ceiling = 8;
  EXPECT_EQ(code_of(figures), ReasonCode::latency_bound);
  EXPECT_NEAR(judge(figures).changes[0].gain, 64.0 / 52, 0.01);
}

TEST(StageRules, TasksComputeAndWaitInTurn) {
  const Figures figures = run_of(40, 84, 36);
  EXPECT_EQ(code_of(figures), ReasonCode::cpu_bound);
  EXPECT_EQ(setting_of(figures), "blocking=true");
  EXPECT_NEAR(judge(figures).changes[0].gain, 60.0 / 42, 0.01);
  EXPECT_EQ(code_of(run_of(40, 54, 36)), ReasonCode::none) << "threads have time";
  const auto in_part_slower_together = [](Figures& f) { f.stages[0].crowding = 0.6; };
  EXPECT_EQ(code_of(run_of(40, 48, 72), in_part_slower_together), ReasonCode::none) << "it waits for most of its time";
  EXPECT_EQ(code_of(run_of(40, 84, 72)), ReasonCode::none) << "it has I/O threads";
}

TEST(StageRules, WhatIsMadeAgainInEveryEpochCanBeKept) {
  Figures figures = run_of(44, 128);
  figures.stages[0].prefix_operators = 2;
  figures.stages[0].prefix_bytes = 1e8;
  EXPECT_THAT(judge(figures).changes[0].what,
              testing::HasSubstr("a cache after map (100 MB that each epoch makes again)"));
  figures.stages[0].prefix_bytes = 1e10;
  EXPECT_THAT(judge(figures).changes[0].what,
              testing::HasSubstr("a snapshot after map (10000 MB that each epoch makes again)"));
  figures.stages[0].operators = {{"read", 1e6}, {"map", 11e6}};
  figures.stages[0].prefix_element_bytes = 1e5;  // 100,000 elements of 12 ms, on two threads.
  EXPECT_THAT(judge(figures).changes[0].what,
              testing::HasSubstr("(10000 MB that each epoch makes again; written once, in 10.0 minutes)"));
  figures.repeats = false;
  EXPECT_THAT(judge(figures).changes[0].what, "one more processor") << "nothing is made twice";
}

TEST(StageRules, ACacheLeavesOutWorkOfItsStageAndCopiesInstead) {
  Figures figures = run_of(44, 64);
  figures.stages[0].prefix_bytes = 1e8;
  figures.stages[0].prefix_operators = 2;
  figures.stages.push_back(figures.stages[0]);  // Another one, that goes on computing.
  figures.stages[1].prefix_operators = 0;
  figures.stages[0].totals.starved_ns = figures.stages[1].totals.starved_ns = 0;
  const auto gain = [&] {
    const std::vector<Change> changes = judge(figures).changes;
    const auto is_cache = [](const Change& one) { return one.what.starts_with("a cache"); };
    const auto found = std::find_if(changes.begin(), changes.end(), is_cache);
    return found != changes.end() ? found->gain : 0;
  };
  EXPECT_NEAR(gain(), 2, 0.01) << "128 ms become 64";
  figures.stages[0].prefix_element_bytes = 4e6;  // 32 of them are copied in 32 ms.
  EXPECT_NEAR(gain(), 128.0 / 96, 0.01);
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/verdict/planted_mistakes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "headpond/base/clock.h"

namespace headpond::cli {
namespace {

PlantedRun run_of(const std::string& stage, const std::string& op) {
  PlantedRun run{.verdict = {.code = ReasonCode::cpu_bound, .stage = stage, .op = op}};
  run.stages = {"map", "shuffle|batch", "range|filter"};
  return run;
}

constexpr PlantedMistake kMistake = {"a mistake", ReasonCode::cpu_bound, "shuffle|batch", "shuffle", nullptr};

TEST(PlantedMistake, IsFoundByItsReasonStageAndOperator) {
  EXPECT_TRUE(kMistake.is_found_by(run_of("shuffle|batch", "shuffle").verdict));
  EXPECT_FALSE(kMistake.is_found_by(run_of("shuffle|batch", "batch").verdict));
  EXPECT_FALSE(kMistake.is_found_by(run_of("map", "shuffle").verdict));
  Verdict other = run_of("shuffle|batch", "shuffle").verdict;
  other.code = ReasonCode::serial_stage;
  EXPECT_FALSE(kMistake.is_found_by(other));
}

TEST(PlantedMistake, NoneIsToldNoChange) {
  const PlantedMistake none = {"none", ReasonCode::device_bound, "", "", nullptr};
  Verdict verdict{.code = ReasonCode::device_bound};
  EXPECT_TRUE(none.is_found_by(verdict));
  verdict.changes.push_back({"more threads", "threads", "3", 2});
  EXPECT_FALSE(none.is_found_by(verdict));
}

TEST(PlantedMistake, EachHasItsOwnReason) {
  std::vector<ReasonCode> codes;
  for (const PlantedMistake& one : planted_mistakes()) codes.push_back(one.right);
  std::sort(codes.begin(), codes.end());
  EXPECT_EQ(codes.size(), 10U);
  EXPECT_EQ(std::unique(codes.begin(), codes.end()), codes.end());
}

TEST(PlantedControl, TakesAStageForItsNeighbour) {
  EXPECT_EQ(with_stages_swapped(run_of("map", "map")).stage, "shuffle|batch");
  EXPECT_EQ(with_stages_swapped(run_of("shuffle|batch", "shuffle")).stage, "range|filter");
  EXPECT_EQ(with_stages_swapped(run_of("range|filter", "filter")).stage, "shuffle|batch");
  EXPECT_FALSE(kMistake.is_found_by(with_stages_swapped(run_of("shuffle|batch", "shuffle"))));
  EXPECT_EQ(with_stages_swapped(run_of("", "")).stage, "");
}

TEST(PlantedControl, WithoutProbesTheLastOperatorIsNamed) {
  EXPECT_EQ(without_probes(run_of("shuffle|batch", "shuffle")).op, "batch");
  EXPECT_EQ(without_probes(run_of("map", "map")).op, "map");
  EXPECT_EQ(without_probes(run_of("", "")).op, "");
}

TEST(PlantedRun, AWaitMayBeOffByOnePercentOrATenthOfAMillisecondAStep) {
  PlantedRun run{.steps = 100, .reported_wait_s = 10.1, .stopwatch_wait_s = 10};
  EXPECT_NEAR(run.wait_error(), 1, 1e-9);
  run.reported_wait_s = run.stopwatch_wait_s = 0.1;
  EXPECT_EQ(run.wait_error(), 0);
  run.reported_wait_s = 0.12;  // 0.2 ms a step.
  EXPECT_NEAR(run.wait_error(), 2, 1e-9);
}

TEST(PlantedRun, StepsThatFillACacheTakeNoPartInTheRate) {
  const auto all = planted_mistakes();
  const auto computes = std::find_if(all.begin(), all.end(),
                                     [](const PlantedMistake& one) { return one.right == ReasonCode::cpu_bound; });
  ASSERT_NE(computes, all.end());
  PlantedPipeline cached = computes->changed({"a cache after map", "", ""}, 8);
  cached.options.threads = 1;
  cached.step_ms = 1;
  const int64_t began = now_ns();
  const auto run = run_planted(cached, 8);
  const double all_s = 1e-9 * static_cast<double>(now_ns() - began);
  ASSERT_TRUE(run) << run.error();
  EXPECT_EQ(cached.steps_to_fill, 2);
  EXPECT_EQ(run->steps, 10);
  // Two threads at most, this one among them, compute for 4 ms of each element.
  const double fill_s = 0.004 * static_cast<double>(cached.steps_to_fill * kPlantedRows) / 2;
  const double counted_s = static_cast<double>(run->steps - cached.steps_to_fill) / run->steps_per_s;
  EXPECT_LE(counted_s, all_s - 0.9 * fill_s);
}

// Calls of the Loader take about 40 ms, those of the program as much less as its step takes.
TEST(PlantedRun, AWaitThatIsMeasuredAfterABufferIsRejected) {
  const auto run = run_planted(slow_input(24), 24, {}, TakeFrom::after_a_buffer);
  ASSERT_TRUE(run) << run.error();
  EXPECT_EQ(run->steps, 24);
  EXPECT_GT(run->wait_error(), 1);
}

}  // namespace
}  // namespace headpond::cli

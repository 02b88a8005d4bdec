// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/monitor/run/pipeline_watch_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

double value_of(const std::vector<Scalar>& points, const std::string& tag) {
  for (const Scalar& point : points) {
    if (point.tag == tag) return point.value;
  }
  ADD_FAILURE() << "no " << tag;
  return -1;
}

struct Made {
  PipelineTotals totals = {.steps = 0, .elements = 0, .calls = 0, .wait_ns = 0};
  LoaderStats stats = {};
  Verdict verdict = {};

  PipelineSource source(const std::string& name = "") {
    return {.name = name,
            .totals = [this] { return totals; },
            .verdict = [this] { return verdict; },
            .stats = [this] { return stats; },
            .plan = "range(3)"};
  }
};

StageStats stage_of(double wall_ns) {
  StageStats stage{.name = "range|map|map", .ready = 3};
  stage.operators = {{.op = "range", .ns = 1000}, {.op = "map", .ns = 3000}, {.op = "map", .ns = 4000}};
  stage.totals.open.wall_ns = wall_ns / 4;
  stage.totals.make.wall_ns = 3 * wall_ns / 4;
  return stage;
}

TEST(PipelineWatch, RatesAreThoseSinceTheSampleBefore) {
  Made made;
  made.totals = {.steps = 5, .elements = 100, .calls = 5, .wait_ns = kSecond};
  PipelineWatch watched(made.source(), 0);
  std::vector<Scalar> points;
  made.totals = {.steps = 15, .elements = 400, .calls = 15, .wait_ns = kSecond * 3 / 2};
  const PipelinePoint first = watched.sample(points, 2 * kSecond);
  EXPECT_EQ(first.wait_share, 0.25);
  EXPECT_EQ(value_of(points, "pipeline/elements_per_sec"), 150);
  EXPECT_EQ(value_of(points, "pipeline/consumer_wait_ms"), 50);
  EXPECT_EQ(value_of(points, "pipeline/starved_fraction"), 0.25);
  points.clear();
  EXPECT_EQ(watched.sample(points, 3 * kSecond).wait_share, 0);
  EXPECT_EQ(watched.steps(), 15);
}

// A thread that samples all may have looked at the clock before this one was watched.
TEST(PipelineWatch, ASampleOfATimeBeforeItHasNoRates) {
  Made made;
  made.totals.steps = 1;
  PipelineWatch watched(made.source(), kSecond);
  std::vector<Scalar> points;
  (void)watched.sample(points, kSecond / 2);
  EXPECT_FALSE(watched.has_points()) << "so a last sample is taken when it ends";
  (void)watched.sample(points, 2 * kSecond);
  EXPECT_TRUE(watched.has_points());
  EXPECT_EQ(value_of(points, "pipeline/starved_fraction"), 0);
}

TEST(PipelineWatch, APointBeforeTheFirstStepIsNone) {
  Made made;
  PipelineWatch watched(made.source(), 0);
  std::vector<Scalar> points;
  (void)watched.sample(points, kSecond);
  EXPECT_FALSE(watched.has_points());
  made.totals.steps = 1;
  (void)watched.sample(points, 2 * kSecond);
  EXPECT_TRUE(watched.has_points());
}

TEST(PipelineWatch, SoonAfterASampleRatesStay) {
  Made made;
  made.stats = {.stages = {stage_of(1e9)}};
  PipelineWatch watched(made.source(), 0);
  std::vector<Scalar> points;
  made.totals = {.steps = 1, .wait_ns = kSecond / 2};
  EXPECT_EQ(watched.sample_soon(points, kSecond).wait_share, 0.5) << "the first one";
  points.clear();
  made.totals.wait_ns = kSecond / 2 + 1;
  made.stats.memory_in_use = 5;
  const PipelinePoint soon = watched.sample_soon(points, kSecond + 1);
  EXPECT_EQ(soon.wait_share, 0.5);
  EXPECT_EQ(soon.memory_bytes, 5) << "is no rate";
  EXPECT_TRUE(points.empty());
}

TEST(PipelineWatch, AnOperatorHasItsShareOfTheStagesTime) {
  Made made;
  made.stats = {.memory_in_use = 77, .threads = 2, .stages = {stage_of(1e9)}};
  PipelineWatch watched(made.source("train"), 0);
  std::vector<Scalar> points;
  (void)watched.sample(points, kSecond);
  made.stats.stages = {stage_of(2.6e9)};
  points.clear();
  const PipelinePoint point = watched.sample(points, 2 * kSecond);
  EXPECT_EQ(point.ready, 3);
  EXPECT_EQ(point.memory_bytes, 77);
  EXPECT_EQ(value_of(points, "pipeline/train/ready_batches"), 3);
  EXPECT_EQ(value_of(points, "pipeline/train/memory_bytes"), 77);
  EXPECT_DOUBLE_EQ(value_of(points, "op/train/range/parallelism"), 0.2);
  EXPECT_DOUBLE_EQ(value_of(points, "op/train/map/parallelism"), 0.6);
  EXPECT_DOUBLE_EQ(value_of(points, "op/train/map_1/parallelism"), 0.8);
  EXPECT_DOUBLE_EQ(value_of(points, "op/train/map_1/busy_fraction"), 0.4);
  EXPECT_DOUBLE_EQ(value_of(points, "op/train/map_1/self_us"), 4);
}

TEST(PipelineWatch, StagesWithOneNameHaveTheirOwnTimes) {
  Made made;
  const auto stages = [](double first_ns, double second_ns) {
    std::vector<StageStats> both(2, StageStats{.name = "range|map"});
    both[0].totals.make.wall_ns = first_ns;
    both[1].totals.make.wall_ns = second_ns;
    return both;
  };
  made.stats = {.threads = 2, .stages = stages(9e9, 1e9)};
  PipelineWatch watched(made.source(), 0);
  made.stats.stages = stages(9.75e9, 1.25e9);
  std::vector<Scalar> points;
  (void)watched.sample(points, kSecond);
  EXPECT_DOUBLE_EQ(value_of(points, "op/range|map/parallelism"), 0.25) << "without what was before it was watched";
  EXPECT_DOUBLE_EQ(value_of(points, "op/range|map_1/parallelism"), 0.75);
}

TEST(PipelineWatch, AStageWithoutMeasuredOperatorsIsOne) {
  Made made;
  made.stats = {.threads = 1, .stages = {StageStats{.name = "generator"}}};
  PipelineWatch watched(made.source(), 0);
  made.stats.stages[0].totals.open.wall_ns = 5e8;
  std::vector<Scalar> points;
  (void)watched.sample(points, kSecond);
  EXPECT_DOUBLE_EQ(value_of(points, "op/generator/busy_fraction"), 0.5);
}

TEST(PipelineWatch, StepsAreToldOnce) {
  RecentSteps recent{5, {{4, 0}, {5, 0}}};
  PipelineWatch watched({.recent_steps = [&recent] { return recent; }}, 0);
  const auto calls = [&watched] {
    std::vector<float> all;
    for (const StepTime& step : watched.new_steps()) all.push_back(step.call_ns);
    return all;
  };
  EXPECT_THAT(calls(), testing::IsEmpty()) << "those were before it was watched";
  recent = {7, {{1, 0}, {2, 0}}};
  EXPECT_THAT(calls(), testing::ElementsAre(1, 2));
  recent = {8, {{1, 0}, {2, 0}, {3, 0}}};
  EXPECT_THAT(calls(), testing::ElementsAre(3));
  EXPECT_THAT(calls(), testing::IsEmpty());
  recent = {900, {{8, 0}, {9, 0}}};
  EXPECT_THAT(calls(), testing::ElementsAre(8, 9)) << "earlier ones are not there any more";
}

TEST(PipelineWatch, AfterItsEndTheLastFiguresStay) {
  Made made;
  made.totals = {.calls = 7, .wait_ns = 9};
  made.verdict.code = ReasonCode::startup;
  PipelineWatch watched(made.source("a"), 0);
  EXPECT_FALSE(watched.record(1).has_ended);
  watched.end(2);
  made.totals.calls = 8;
  made.verdict.code = ReasonCode::cpu_bound;
  const PipelineRecord& record = watched.record(3);
  EXPECT_TRUE(record.has_ended);
  EXPECT_EQ(record.seconds, 2);
  EXPECT_EQ(record.wait_ns, 9);
  EXPECT_EQ(record.plan, "range(3)");
  EXPECT_EQ(record.verdict.code, ReasonCode::startup);
  EXPECT_EQ(watched.steps(), 7);
  EXPECT_EQ(watched.name(), "a");
}

TEST(PipelineWatch, WhatIsNotCountedHasNoChart) {
  PipelineWatch watched({.name = "quiet"}, 0);
  std::vector<Scalar> points;
  EXPECT_EQ(watched.sample(points, kSecond).ready, -1);
  EXPECT_THAT(points, testing::IsEmpty());
  EXPECT_EQ(watched.steps(), std::nullopt);
}

}  // namespace
}  // namespace headpond::internal

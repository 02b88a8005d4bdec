// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/run/run_record.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "headpond/base/clock.h"

namespace headpond {
namespace {

class RunRecordTest : public testing::Test {
 protected:
  RunRecordTest() { std::filesystem::create_directory(folder_); }
  ~RunRecordTest() override { std::filesystem::remove_all(folder_); }
  Result<RunRecord> read(const std::string& text) {
    std::ofstream(folder_ + "/run.jsonl") << text;
    return read_run(folder_);
  }
  const std::string folder_ = testing::TempDir() + "headpond_run_record_" + std::to_string(now_ns());
};

PipelineRecord record_of(const std::string& name, ReasonCode code, double wait_ns) {
  PipelineRecord record{.name = name, .wait_ns = wait_ns};
  record.verdict.code = code;
  return record;
}

// Every field has another value.
PipelineRecord full_record() {
  PipelineRecord record{
      .name = "train", .seconds = 2.5, .has_ended = true, .plan = "range(9)\nbatch(3)", .wait_ns = 7e9};
  record.verdict = {
      .code = ReasonCode::cpu_bound, .stage = "range|map", .op = "map", .confidence = 0.75, .wait_share = 0.5};
  record.verdict.waits = {0.125, 0.25, 0.0625, 0.5};
  record.verdict.evidence = {{"share", 0.9, 0.8}};
  record.verdict.changes = {{"more", "threads", "3", 1.5, 1.4, 1.6}, {"a cache", "", "", 1.25, 1.2, 1.3}};
  record.verdict.findings = {"one", "two"};
  record.loader = {.batches = 1, .waits = 2, .wait_ns = 3, .first_wait_ns = 4, .helped = 5, .memory_in_use = 6};
  record.loader.memory_peak = 7;
  record.loader.memory_free = 51;
  record.loader.memory_held = 52;
  record.loader.memory_held_peak = 53;
  record.loader.memory = {{"range", "range|map", 54, 55}, {"map", "range|map", 56, 57}};
  record.loader.threads = 8;
  record.loader.io_threads = 9;
  record.loader.inline_now = true;
  record.loader.steps = {10, 11, 12, 13, 14, 15, 16, 58};
  record.loader.steps.work_cpu_share = 0.25;
  record.loader.steps.work_queue_share = 0.125;
  record.loader.defects = 17;
  record.loader.elements = 59;
  record.loader.bytes = 60;
  StageStats stage{.name = "range|map", .blocking = true, .units = 18, .elements = 19, .element_ns = 20, .unit_ns = 21};
  stage.target = 22;
  stage.ahead = 23;
  stage.ready = 24;
  stage.mean_ready = 25;
  stage.unit_bytes = 26;
  stage.operators = {{"range", 27, 26, 25, 24}, {"map", 28, 24, 23, 22}};
  stage.starved_p50_ns = 46;
  stage.starved_p99_ns = 47;
  stage.idle_p50_ns = 48;
  stage.idle_p99_ns = 49;
  stage.totals = {{29, 30, 31, 32, 33}, {34, 35, 36, 37, 38}, 39, 40, 41, 42, 43, 44, 45, 61, 62};
  record.loader.stages = {stage, StageStats{.name = "empty"}};
  return record;
}

TEST_F(RunRecordTest, EveryFieldIsReadBack) {
  const PipelineRecord record = full_record();
  const RunPoint point{1.5,
                       3,
                       0.5,
                       0.25,
                       1 << 20,
                       {{"train", 0.5, 2, 77}},
                       {{"queue/a/fraction_of_4_full", 0.75}},
                       300,
                       {{"map", 200}, {"outside", -5}},
                       {{"headpond/", 2, 1.5, 58}},
                       0.125,
                       0.0625};
  const RunMachine machine{"2026-05-01T12:00:00Z", 42, 2, "AVX2", 105};
  const auto run = read(line_of(machine) + line_of(point) + line_of(record) + end_line());
  ASSERT_TRUE(run) << run.error();
  EXPECT_EQ(line_of(run->machine), line_of(machine));
  ASSERT_EQ(run->points.size(), 1U);
  EXPECT_EQ(line_of(run->points[0]), line_of(point));
  ASSERT_EQ(run->pipelines.size(), 1U);
  EXPECT_EQ(line_of(run->pipelines[0]), line_of(record));
  EXPECT_EQ(run->pipelines[0].loader.steps.work_queue_share, 0.125);
  EXPECT_EQ(run->pipelines[0].verdict.to_string(), record.verdict.to_string());
  EXPECT_TRUE(run->is_whole);
  EXPECT_NE(line_of(record), line_of(PipelineRecord())) << "the comparison above sees nothing";
}

TEST_F(RunRecordTest, OfEachPipelineTheLatestRecordCounts) {
  const auto run = read(line_of(record_of("a", ReasonCode::none, 1)) + line_of(record_of("b", ReasonCode::startup, 2)) +
                        line_of(record_of("a", ReasonCode::cpu_bound, 3)));
  ASSERT_TRUE(run) << run.error();
  ASSERT_EQ(run->pipelines.size(), 2U);
  EXPECT_EQ(run->pipelines[0].verdict.code, ReasonCode::cpu_bound);
  EXPECT_FALSE(run->is_whole);
}

TEST_F(RunRecordTest, OfSeveralRunsInAFolderTheLastOneCounts) {
  const std::string first = line_of(RunMachine{.pid = 1}) + line_of(RunPoint{.step = 900}) +
                            line_of(record_of("a", ReasonCode::startup, 2)) + end_line();
  const auto run = read(first + line_of(RunMachine{.pid = 2}) + line_of(RunPoint{.step = 7}));
  ASSERT_TRUE(run) << run.error();
  EXPECT_EQ(run->machine.pid, 2);
  EXPECT_EQ(run->points.size(), 1U);
  EXPECT_TRUE(run->pipelines.empty());
  EXPECT_FALSE(run->is_whole) << "the second one was killed, or goes on";
}

TEST_F(RunRecordTest, ALineThatWasCutIsPassedOver) {
  const std::string whole = line_of(record_of("a", ReasonCode::startup, 1));
  for (const size_t length : {size_t{1}, whole.size() / 2, whole.size() - 1}) {
    const auto run = read(whole + line_of(record_of("a", ReasonCode::cpu_bound, 1)).substr(0, length));
    ASSERT_TRUE(run) << run.error();
    EXPECT_EQ(run->pipelines.at(0).verdict.code, ReasonCode::startup);
  }
}

TEST_F(RunRecordTest, ADamagedLineIsNamed) {
  const std::string good = line_of(RunPoint());
  for (const char* const bad :
       {"}\n", "[1]\n", "{\"point\":5}\n", "{\"point\":{\"queues\":7}}\n", "{\"point\":{\"step\":\"x\"}}\n"}) {
    std::string text = good;
    text.append(bad).append(good);
    const auto run = read(text);
    ASSERT_FALSE(run) << bad;
    EXPECT_EQ(run.error().kind(), ErrorKind::DataLoss);
    EXPECT_THAT(run.error().message(), testing::HasSubstr("run.jsonl: line 2: ")) << bad;
  }
}

TEST_F(RunRecordTest, AnErrorNamesTheMemberAndWhatItMustBe) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"([1])", "the line must be an object, but is an array"},
      {R"({"point":5})", "point must be an object, but is 5"},
      {R"({"point":{"queues":7}})", "point.queues must be an array, but is 7"},
      {R"({"point":{"step":"x"}})", R"(point.step must be a whole number, but is "x")"},
      {R"({"point":{"step":1e300}})", "point.step must be a whole number, but is 1e+300"},
      {R"({"point":{"step":18446744073709551615}})", "point.step must be a whole number, but is 18446744073709551615"},
      {R"({"point":{"seconds":[]}})", "point.seconds must be a number, but is an array"},
      {R"({"point":{"queues":[{"tag":"a"},{"tag":3}]}})", "point.queues[1].tag must be a text, but is 3"},
      {R"({"pipeline":{"has_ended":1}})", "pipeline.has_ended must be true or false, but is 1"},
      {R"({"pipeline":{"verdict":{"findings":["a",{}]}}})",
       "pipeline.verdict.findings[1] must be a text, but is an object"},
      {R"({"run":{"processors":5000000000}})", "run.processors must be a whole number, but is 5000000000"},
      {R"({"run":{"pid":true}})", "run.pid must be a whole number, but is true"},
      {R"({"point":})", "not valid JSON at byte 10"},
      {"{\"run\":{\"simd\":\"\xff\"}}", "not valid JSON at byte 17"}};
  for (const auto& [line, message] : cases) {
    const auto run = read(line + "\n");
    ASSERT_FALSE(run) << line;
    EXPECT_EQ(run.error().kind(), ErrorKind::DataLoss);
    EXPECT_EQ(run.error().message(), folder_ + "/run.jsonl: line 1: " + message);
  }
}

TEST_F(RunRecordTest, WhatIsNotKnownIsPassedOver) {
  const auto run = read(
      "{}\n{\"later\":[1]}\n{\"point\":{\"seconds\":2,\"colour\":\"red\",\"rss\":null}}\n"
      "{\"pipeline\":{\"verdict\":{\"reason_code\":\"of_later\"}}}\n");
  ASSERT_TRUE(run) << run.error();
  EXPECT_EQ(run->points.at(0).seconds, 2);
  EXPECT_EQ(run->pipelines.at(0).verdict.code, ReasonCode::none);
}

TEST_F(RunRecordTest, AFigureThatIsNoNumberIsLeftOut) {
  const auto run = read(line_of(record_of("a", ReasonCode::startup, std::numeric_limits<double>::quiet_NaN())));
  ASSERT_TRUE(run) << run.error();
  EXPECT_EQ(run->pipelines.at(0).wait_ns, 0);
}

TEST_F(RunRecordTest, WithoutTheFileThereIsNoRun) { EXPECT_EQ(read_run(folder_).error().kind(), ErrorKind::NotFound); }

TEST(Points, TheMemoryIsLookedAtInSomeOfThem) {
  RunRecord run;
  EXPECT_EQ(fullest_point(run), nullptr);
  EXPECT_EQ(last_looked_at(run), nullptr);
  run.points.resize(5);
  EXPECT_EQ(fullest_point(run), nullptr);
  EXPECT_EQ(last_looked_at(run), nullptr);
  run.points[1].pss = 9;
  run.points[3].pss = 7;
  EXPECT_EQ(fullest_point(run), &run.points[1]);
  EXPECT_EQ(last_looked_at(run), &run.points[3]);
}

TEST(MostWaitedFor, OfThoseWithAProfileTheWaitCounts) {
  std::vector<PipelineRecord> all = {record_of("account", ReasonCode::device_bound, 9),
                                     record_of("a", ReasonCode::cpu_bound, 1), record_of("b", ReasonCode::none, 3)};
  EXPECT_EQ(most_waited_for_with_profile(all), nullptr);
  all[1].loader.stages.emplace_back();
  all[2].loader.stages.emplace_back();
  EXPECT_EQ(most_waited_for_with_profile(all), &all[2]);
  EXPECT_EQ(most_waited_for_with_profile({}), nullptr);
}

TEST(MostWaitedFor, AReasonComesFirstThenTheWait) {
  const std::vector<PipelineRecord> all = {record_of("a", ReasonCode::none, 9), record_of("b", ReasonCode::startup, 1),
                                           record_of("c", ReasonCode::cpu_bound, 2)};
  EXPECT_EQ(most_waited_for(all), &all[2]);
  EXPECT_EQ(most_waited_for({}), nullptr);
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// Hooks, exporters, profilers and logs of a training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/log.h"
#include "headpond/base/trace.h"
#include "headpond/dataset/ops.h"
#include "headpond/train/loop/hooks.h"
#include "headpond/train/loop/training_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::numbers;
using internal::play;
using internal::Played;
using internal::Toy;
using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;

struct FailsAtItsEnd final : Hook {
  std::string_view name() const override { return "fails"; }
  Result<void> end(HookContext&) override { return fail(ErrorKind::Unknown, "no end"); }
};

TEST(TrainAndEvaluate, IsSavedThoughAHooksEndFails) {
  const TempFolder temp;
  Toy toy;
  TrainingReport report;
  const auto failed =
      train_and_evaluate(toy, {.model_dir = temp.path(), .save_steps = 100},
                         {.input = numbers(), .max_steps = 3, .hooks = {std::make_shared<FailsAtItsEnd>()}},
                         {.input = range(2) | batch(2)}, &report);
  EXPECT_EQ(failed.error().message(), "no end");
  EXPECT_EQ(report.checkpoints.back().step, 3);
  EXPECT_EQ(report.evaluations.back().evaluation.step, 3);
}

// Counts its calls, saves how many steps it saw, and may fail.
struct Counter final : Hook {
  int64_t steps = 0, fails_at = -1, evaluated_ = 0, ends = 0;
  bool fails_at_the_end = false;
  std::string_view name() const override { return "counter"; }
  Result<void> after_run(HookContext&, double, const Metrics&) override {
    return ++steps == fails_at ? fail(ErrorKind::Cancelled, "a step") : Result<void>();
  }
  Result<void> evaluated(HookContext&, const Evaluation&) override {
    ++evaluated_;
    return {};
  }
  Result<void> end(HookContext&) override {
    ++ends;
    return fails_at_the_end ? fail(ErrorKind::Cancelled, "the end") : Result<void>();
  }
  void visit_state(HookState& state) override { state.visit("steps", steps); }
};

std::shared_ptr<Counter> counter(int64_t fails_at = -1, bool fails_at_the_end = false) {
  auto made = std::make_shared<Counter>();
  made->fails_at = fails_at;
  made->fails_at_the_end = fails_at_the_end;
  return made;
}

TEST(TrainAndEvaluate, ACheckpointOfStep0IsNotWrittenAgain) {
  const TempFolder temp;
  Played first, second;
  play(first, {.model_dir = temp.path(), .asynchronous_save = false}, 1000, {counter(2)});
  EXPECT_EQ(first.report.checkpoints.size(), 1U);
  play(second, {.model_dir = temp.path(), .asynchronous_save = false});
  EXPECT_EQ(second.report.resumed_from, 0);
  EXPECT_EQ(second.report.checkpoints.at(0).step, 4);
  EXPECT_EQ(second.report.evaluations.at(0).evaluation.step, 4);
}

TEST(TrainAndEvaluate, AllHooksEndAndTheFirstErrorCounts) {
  Played step, end;
  const auto one = counter(3, true), two = counter();
  play(step, {}, 1000, {one, two});
  EXPECT_THAT(step.result.error().message(), HasSubstr("a step"));
  EXPECT_EQ(one->ends + two->ends, 2);
  const auto three = counter(-1, true), four = counter();
  play(end, {}, 1000, {three, four});
  EXPECT_THAT(end.result.error().message(), HasSubstr("the end"));
  EXPECT_EQ(four->ends, 1);
  Toy toy;
  const auto five = counter(2), six = counter();
  const auto failed =
      train_and_evaluate(toy, {}, {.input = numbers()}, {.input = range(6) | batch(2), .hooks = {five, six}});
  EXPECT_THAT(failed.error().message(), HasSubstr("a step")) << "of the evaluation";
  EXPECT_EQ(five->ends + six->ends, 2);
}

TEST(TrainAndEvaluate, AnEvaluationWithoutABatchIsNoneOfTheBest) {
  const TempFolder temp;
  std::string said;
  set_log_sink([&](LogLevel, std::string_view line) { said += line; });
  Toy toy;
  TrainingReport report;
  const auto hook = counter();
  const auto early = early_stopping_hook({.max_steps_without_decrease = 1});
  const auto trained = train_and_evaluate(
      toy, {.model_dir = temp.path(), .save_steps = 4},
      {.input = numbers(), .max_steps = 12, .hooks = {hook, early}, .epochs = -1},
      {.input = range(0) | batch(2), .exporters = {best_exporter(), final_exporter()}, .throttle_secs = 0}, &report);
  set_log_sink({});
  ASSERT_TRUE(trained) << trained.error();
  EXPECT_EQ(report.last_step, 12);
  EXPECT_EQ(report.evaluations.size(), 3U);
  EXPECT_EQ(hook->evaluated_, 0);
  EXPECT_THAT(trained->exports, ElementsAre(temp.file("export/final/12/model.pt")));
  EXPECT_THAT(said, HasSubstr("the evaluation after step 4 had no batch"));
}

TEST(TrainAndEvaluate, TheNameOfTheLossIsTaken) {
  Played played;
  played.toy.metric = "loss";
  play(played, {});
  EXPECT_EQ(played.result.error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(played.toy.losses.size(), 1U);
}

TEST(TrainAndEvaluate, NumbersOfHooksFindTheirHookByName) {
  const TempFolder temp;
  Played first, more, fewer;
  const auto one = counter(), two = counter(), again = counter(), second = counter();
  two->steps = 100;
  const BestExporterOptions best{.name = "counter", .metric = "size"};
  play(first, {.model_dir = temp.path()}, 8, {one, two}, {best_exporter(best)});
  play(more, {.model_dir = temp.path()}, 0, {nan_hook(), again, second}, {best_exporter(best)});
  EXPECT_EQ(again->steps, 8);
  EXPECT_EQ(second->steps, 108);
  EXPECT_TRUE(more.result->exports.empty()) << "the same value is no better one";
  std::string said;
  set_log_sink([&](LogLevel, std::string_view line) { said += line; });
  play(fewer, {.model_dir = temp.path()}, 0, {counter()});
  set_log_sink({});
  EXPECT_THAT(said, HasSubstr("hooks that are not there: 1.export/counter.best, 2.counter.steps"));
}

TEST(TrainAndEvaluate, NumbersOfTheHooksOfEvaluationsAreInCheckpoints) {
  const TempFolder temp;
  const auto steps_of_evaluations = [&](int64_t max_steps) {
    Toy toy;
    const auto counts = counter();
    EXPECT_TRUE(train_and_evaluate(toy, {.model_dir = temp.path(), .save_steps = 2, .threads = 1},
                                   {.input = numbers(), .max_steps = max_steps, .hooks = {counter()}, .epochs = -1},
                                   {.input = range(6) | batch(2), .hooks = {counts}, .throttle_secs = 0}));
    return counts->steps;
  };
  EXPECT_EQ(steps_of_evaluations(4), 6) << "two evaluations of three batches";
  EXPECT_EQ(steps_of_evaluations(6), 3 + 3 + 3) << "what the checkpoint of step 4 saw, that one again, and the next";
}

TEST(TrainAndEvaluate, ExportsTheBestTheLatestAndTheLast) {
  const TempFolder temp;
  Played played;
  play(played, {.model_dir = temp.path()}, 1000, {}, {latest_exporter(), final_exporter()});
  ASSERT_TRUE(played.result);
  EXPECT_THAT(played.result->exports,
              ElementsAre(temp.file("export/latest/23/model.pt"), temp.file("export/final/23/model.pt")));
  EXPECT_EQ(test::get_file(played.result->exports[1]), test::to_bytes(played.toy.save().at("model.pt")));
}

TEST(TrainAndEvaluate, EarlyStoppingEndsIt) {
  Played played, control;
  play(played, {.save_steps = 2}, 1000, {early_stopping_hook({.metric = "size", .max_steps_without_decrease = 6})});
  EXPECT_EQ(played.report.last_step, 8);
  EXPECT_THAT(played.report.why_it_ended, HasSubstr("early_stopping_hook: no lower size"));
  play(control, {.save_steps = 2});
  EXPECT_EQ(control.report.last_step, 23);
}

TEST(TrainAndEvaluate, ARunLogCapturesBothInputsAndTheSteps) {
  const TempFolder temp;
  Toy toy;
  const auto log = value_or_throw(RunLog::open(temp.path()));
  const auto profiler = profiler_hook({.every = {.steps = 4}, .output_dir = temp.path()});
  ASSERT_TRUE(train_and_evaluate(toy, {.save_steps = 5, .threads = 1, .log = log.get()},
                                 {.input = numbers(), .max_steps = 10, .hooks = {profiler}, .epochs = -1},
                                 {.input = range(6) | batch(2), .throttle_secs = 0}));
  ASSERT_TRUE(log->close());
  std::vector<std::string> names;
  for (const PipelineRecord& pipeline : log->pipelines()) names.push_back(pipeline.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("train", "eval"));
  const auto steps_in = [](const std::string& path) {
    const auto timeline = test::get_file(path);
    const std::string_view text(reinterpret_cast<const char*>(timeline.data()), timeline.size());
    return test::times_in(text, R"("name":"step")");
  };
  EXPECT_EQ(steps_in(log->files().timeline), 10U);
  EXPECT_EQ(steps_in(temp.file("timeline-5.json")), 1U);
}

TEST(TrainAndEvaluate, AProfilerAndARunLogWithChosenStepsEndNoRecordingOfEachOther) {
  const TempFolder temp;
  Toy toy;
  const auto log = value_or_throw(RunLog::open(temp.file("run"), {.trace = {.steps = {5, 7}}}));
  const auto profiler = profiler_hook({.every = {.steps = 4}, .output_dir = temp.path()});
  ASSERT_TRUE(train_and_evaluate(toy, {.threads = 1, .log = log.get()},
                                 {.input = numbers(), .max_steps = 10, .hooks = {profiler}, .epochs = -1},
                                 {.input = range(6) | batch(2)}));
  ASSERT_TRUE(log->close());
  const auto timeline = test::get_file(log->files().timeline);
  const std::string_view text(reinterpret_cast<const char*>(timeline.data()), timeline.size());
  EXPECT_EQ(test::times_in(text, R"("name":"step")"), 3U) << "the profiler's step 5 is its first one";
}

TEST(TrainAndEvaluate, AProfilersTraceEndsWithTheTraining) {
  const TempFolder temp;
  Toy toy;
  set_log_sink([](LogLevel, std::string_view) {});
  ASSERT_TRUE(train_and_evaluate(
      toy, {}, {.input = numbers(), .hooks = {profiler_hook({.every = {.steps = 1}, .output_dir = temp.path()})}},
      {.input = range(6) | batch(2)}));
  set_log_sink({});
  EXPECT_EQ(temp.count(), 5U) << "steps";
  EXPECT_FALSE(trace::enabled()) << "its sixth one met the end of the input";
}

// Asks in begin(), or after the second batch.
struct StopsEvaluations final : Hook {
  explicit StopsEvaluations(bool at_begin) : in_begin(at_begin) {}
  std::string_view name() const override { return "stops_evaluations"; }
  Result<void> begin(HookContext& context) override {
    batches = 0;
    if (in_begin) context.request_stop("none is wished");
    return {};
  }
  Result<void> after_run(HookContext& context, double, const Metrics&) override {
    if (++batches == 2) context.request_stop("two are enough");
    return {};
  }
  const bool in_begin;
  int64_t batches = 0;
};

TEST(TrainAndEvaluate, AStopOfAnEvaluationsHookEndsOnlyTheEvaluation) {
  set_log_sink([](LogLevel, std::string_view) {});
  for (const bool in_begin : {false, true}) {
    Toy toy;
    TrainingReport report;
    ASSERT_TRUE(train_and_evaluate(
        toy, {.save_steps = 4, .threads = 1}, {.input = numbers(), .max_steps = 10, .epochs = -1},
        {.input = range(6) | batch(2), .hooks = {std::make_shared<StopsEvaluations>(in_begin)}, .throttle_secs = 0},
        &report));
    EXPECT_EQ(report.last_step, 10);
    EXPECT_EQ(report.why_it_ended, "max_steps");
    ASSERT_EQ(report.evaluations.size(), 3U) << "of steps 4, 8, 10";
    for (const auto& one : report.evaluations)
      EXPECT_EQ(one.evaluation.metrics.at("loss").count, in_begin ? 0 : 2) << "each from the first batch on";
    const auto& last = report.evaluations.back().evaluation;
    if (!in_begin) {
      EXPECT_DOUBLE_EQ(last.metrics.at("loss").value(), toy.losses.back() + 1) << "0, 2";
    }
  }
  set_log_sink({});
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/loop/training.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/base/trace.h"
#include "headpond/dataset/ops.h"
#include "headpond/io/file/system_test_internal.h"
#include "headpond/train/loop/hooks.h"
#include "headpond/train/loop/training_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::numbers;
using internal::Toy;
using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;

struct Played {
  Toy toy;
  TrainingReport report;
  Result<TrainingResult> result;
};

// Trains 23 steps, or `steps` more and then stops; a checkpoint each 4 steps, an evaluation after each.
void play(Played& played, RunConfig config, int64_t steps = 1000, std::vector<std::shared_ptr<Hook>> hooks = {},
          std::vector<std::shared_ptr<Exporter>> exporters = {}, const Dataset& input = numbers()) {
  if (!config.save_steps) config.save_steps = 4;
  config.log_steps = config.summary_steps = 0;
  config.threads = 1;
  hooks.push_back(stop_at_step_hook({.num_steps = steps}));
  played.result = train_and_evaluate(
      played.toy, config, {.input = input, .max_steps = 23, .hooks = std::move(hooks), .epochs = -1},
      {.input = range(6) | batch(2), .exporters = std::move(exporters), .throttle_secs = 0}, &played.report);
}

std::vector<std::string> lines(const TrainingReport& report) {
  std::vector<std::string> all;
  for (const auto& one : report.evaluations)
    all.push_back(fmt::format("{}: {:a}", one.evaluation.step, one.evaluation.metrics.at("loss").value()));
  return all;
}

TEST(TrainAndEvaluate, SavesAndEvaluates) {
  const TempFolder temp;
  Played played;
  play(played, {.model_dir = temp.path(), .keep = 2, .asynchronous_save = false});
  ASSERT_TRUE(played.result) << played.result.error();
  EXPECT_EQ(played.toy.losses.size(), 23U);
  std::vector<int64_t> saved, evaluated;
  for (const auto& one : played.report.checkpoints) saved.push_back(one.step);
  for (const auto& one : played.report.evaluations) evaluated.push_back(one.evaluation.step);
  EXPECT_THAT(saved, ElementsAre(0, 4, 8, 12, 16, 20, 23));
  EXPECT_THAT(evaluated, ElementsAre(4, 8, 12, 16, 20, 23)) << "not after step 0";
  EXPECT_EQ(played.report.why_it_ended, "max_steps");
  EXPECT_EQ(played.result->metrics, played.report.evaluations.back().evaluation.metrics);
  EXPECT_EQ(played.result->metrics.at("size"), (Metric{6, 3})) << "three batches";
  EXPECT_FALSE(played.report.resumed_from);
  const auto& last = played.report.evaluations.back().evaluation;
  EXPECT_DOUBLE_EQ(last.metrics.at("loss").value(), played.toy.losses.back() + 2) << "0, 2, 4 of the same input";
}

TEST(TrainAndEvaluate, GoesOnAsIfItHadNotBeenInterrupted) {
  Played whole;
  const TempFolder temp;
  play(whole, {.model_dir = temp.path()});
  ASSERT_TRUE(whole.result);
  for (const bool asynchronous : {true, false}) {
    for (int64_t steps = 1; steps < 23; steps += 3) {
      const TempFolder folder;
      const RunConfig config{.model_dir = folder.path(), .asynchronous_save = asynchronous};
      std::vector<double> losses;
      std::vector<std::string> last;
      for (int64_t done = 0; done < 23; done += steps) {
        Played part;
        play(part, config, steps);
        ASSERT_TRUE(part.result) << part.result.error();
        losses.insert(losses.end(), part.toy.losses.begin(), part.toy.losses.end());
        last = lines(part.report);
      }
      EXPECT_EQ(losses, whole.toy.losses) << steps;
      EXPECT_EQ(last.back(), lines(whole.report).back()) << steps;
    }
  }
}

// Losses of 12 steps, then of the rest by another one that restores all but a part.
std::vector<double> joined(const std::string& left_out) {
  const TempFolder temp;
  Played first, second;
  play(first, {.model_dir = temp.path()}, 12);
  second.toy.left_out = left_out;
  if (left_out == "data.state") internal::forget_position(temp.path());
  play(second, {.model_dir = temp.path()});
  EXPECT_TRUE(second.result);
  EXPECT_EQ(second.report.resumed_from, 12);
  first.toy.losses.insert(first.toy.losses.end(), second.toy.losses.begin(), second.toy.losses.end());
  return first.toy.losses;
}

TEST(TrainAndEvaluate, EachPartOfACheckpointIsNeeded) {
  Played whole;
  play(whole, {});
  EXPECT_EQ(joined(""), whole.toy.losses);
  for (const char* const part : {"model.pt", "optimizer.pt", "random.bin", "data.state"})
    EXPECT_NE(joined(part), whole.toy.losses) << "control: without " << part;
}

TEST(TrainAndEvaluate, AnEvaluationThatAKillPreventedIsMadeUpFor) {
  const TempFolder temp, copy;
  Played whole;
  Toy toy;
  TrainingReport report;
  const RunConfig config{.model_dir = temp.path(), .save_steps = 4, .threads = 1, .asynchronous_save = false};
  const auto fails_at_8 = [](int64_t step) -> Result<void> {
    if (step == 8) return fail(ErrorKind::Cancelled, "killed between the save and its evaluation");
    return {};
  };
  const TrainSpec train{.input = numbers(), .max_steps = 23, .listeners = {{.after_save = fails_at_8}}, .epochs = -1};
  EXPECT_FALSE(train_and_evaluate(toy, config, train, {.input = range(6) | batch(2), .throttle_secs = 0}, &report));
  EXPECT_EQ(report.evaluations.size(), 1U);
  play(whole, {.model_dir = copy.path()});
  Played rest;
  play(rest, {.model_dir = temp.path()});
  EXPECT_EQ(rest.report.resumed_from, 8);
  std::vector<std::string> all = lines(report);
  for (const std::string& line : lines(rest.report)) all.push_back(line);
  EXPECT_EQ(all, lines(whole.report));
}

TEST(TrainAndEvaluate, OtherParametersInputsAndSeedsAreRefused) {
  const TempFolder temp;
  Played first, parameters, input, seed, allowed, scratch, same;
  play(first, {.model_dir = temp.path()}, 6);
  parameters.toy.shapes = {"weight float64 []", "bias float64 []"};
  play(parameters, {.model_dir = temp.path()});
  ASSERT_FALSE(parameters.result);
  EXPECT_EQ(parameters.result.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(parameters.result.error().message(),
              HasSubstr("parameter 1 is none in the checkpoint, and bias float64 [] here"));
  play(input, {.model_dir = temp.path()}, 5, {}, {}, range(12) | shuffle() | batch(2));
  EXPECT_EQ(input.result.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(input.result.error().message(), HasSubstr("range"));
  play(seed, {.model_dir = temp.path(), .seed = 1});
  EXPECT_EQ(seed.result.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_TRUE(seed.toy.losses.empty());
  set_log_sink([](LogLevel, std::string_view) {});
  play(allowed, {.model_dir = temp.path(), .seed = 1, .allow_new_data = true}, 2);
  set_log_sink({});
  EXPECT_TRUE(allowed.result) << allowed.result.error();
  EXPECT_EQ(allowed.report.resumed_from, 6);
  play(scratch, {.model_dir = temp.path(), .seed = 1, .from_scratch = true}, 2);
  EXPECT_FALSE(scratch.report.resumed_from);
  play(same, {.model_dir = temp.path(), .seed = 1}, 1);
  EXPECT_EQ(same.report.resumed_from, 2) << "the old ones are gone";
}

TEST(TrainAndEvaluate, AReachedMaxStepsIsAnEvaluationOnly) {
  const TempFolder temp;
  Played first, second;
  play(first, {.model_dir = temp.path()});
  play(second, {.model_dir = temp.path()});
  ASSERT_TRUE(second.result);
  EXPECT_TRUE(second.toy.losses.empty());
  EXPECT_TRUE(second.report.checkpoints.empty());
  EXPECT_EQ(second.result->metrics, first.result->metrics);
}

TEST(TrainAndEvaluate, ThrottledAndLimitedEvaluations) {
  Toy toy;
  TrainingReport report;
  const TrainSpec train{.input = numbers(), .max_steps = 20, .epochs = -1};
  const RunConfig config{.save_steps = 2, .threads = 0};
  ASSERT_TRUE(train_and_evaluate(toy, config, train, {.input = range(6) | batch(2), .steps = 2}, &report));
  EXPECT_EQ(report.evaluations.size(), 2U) << "the first and the last one, as no 600 seconds have passed";
  EXPECT_EQ(report.evaluations[0].evaluation.metrics.at("size"), (Metric{4, 2}));
  ASSERT_TRUE(train_and_evaluate(toy, config, train, {.input = range(6) | batch(2), .throttle_secs = 0}, &report));
  EXPECT_EQ(report.evaluations.size(), 10U) << "control";
}

TEST(TrainAndEvaluate, EndsWithItsInputAStopOrAnError) {
  set_log_sink([](LogLevel, std::string_view) {});
  Toy toy;
  TrainingReport report;
  const EvalSpec eval{.input = range(2) | batch(2)};
  ASSERT_TRUE(train_and_evaluate(toy, {.save_steps = 100}, {.input = numbers(), .epochs = 2}, eval, &report));
  EXPECT_EQ(report.last_step, 10);
  EXPECT_EQ(report.why_it_ended, "the end of its input");
  std::stop_source stop;
  stop.request_stop();
  ASSERT_TRUE(
      train_and_evaluate(toy, {.save_steps = 100}, {.input = numbers(), .stop = stop.get_token()}, eval, &report));
  EXPECT_EQ(report.last_step, 0);
  EXPECT_EQ(report.evaluations.size(), 1U);
  const auto damaged = range(4) | map([](int64_t x) -> Result<int64_t> {
                         if (x == 2) return fail(ErrorKind::DataLoss, "a damaged one");
                         return x;
                       }) |
                       batch(1);
  const auto failed = train_and_evaluate(toy, {.save_steps = 100}, {.input = damaged}, eval, &report);
  EXPECT_THAT(failed.error().to_string(), HasSubstr("a damaged one"));
  EXPECT_EQ(report.last_step, 2);
  set_log_sink({});
}

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

// Opens a gate once the training has ended its wait.
struct Opens final : Hook {
  std::shared_ptr<std::atomic<bool>> gate = std::make_shared<std::atomic<bool>>(false);
  bool at_evaluation = false;
  std::string_view name() const override { return "opens"; }
  Result<void> evaluated(HookContext&, const Evaluation&) override {
    *gate = at_evaluation || *gate;
    return {};
  }
  Result<void> end(HookContext&) override {
    *gate = !at_evaluation || *gate;
    return {};
  }
};

// The element at which the input stands still comes only after the training has ended.
TEST(TrainAndEvaluate, AStopEndsAWaitForABatch) {
  for (const bool evaluates : {true, false}) {
    const TempFolder temp;
    Toy toy;
    TrainingReport report;
    std::stop_source stop;
    const auto opens = std::make_shared<Opens>();
    opens->at_evaluation = evaluates;
    const auto stands_still = [gate = opens->gate, &stop](int64_t x) {
      if (x == 6) stop.request_stop();
      while (x == 6 && !*gate) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return x;
    };
    const auto trained = train_and_evaluate(toy, {.model_dir = temp.path(), .save_steps = 100, .threads = 2},
                                            {.input = range(100) | map(stands_still, {.blocking = true}) | batch(2),
                                             .hooks = {opens},
                                             .stop = stop.get_token(),
                                             .evaluates_after_stop = evaluates},
                                            {.input = range(6) | batch(2), .throttle_secs = 0}, &report);
    ASSERT_TRUE(trained) << trained.error();
    EXPECT_LE(report.last_step, 3);
    EXPECT_EQ(report.why_it_ended, "a stop was requested");
    EXPECT_EQ(report.checkpoints.back().step, report.last_step);
    EXPECT_EQ(toy.evaluations, evaluates ? 1 : 0);
    EXPECT_EQ(trained->metrics.empty(), !evaluates);
  }
}

TEST(TrainAndEvaluate, AStopMayEndAnEvaluation) {
  for (const bool evaluates : {true, false}) {
    Toy toy;
    TrainingReport report;
    std::stop_source stop;
    const Dataset input = range(6) | map([&stop](int64_t x) {
                            if (x == 2) stop.request_stop();
                            return x;
                          }) |
                          batch(2);
    const auto trained = train_and_evaluate(
        toy, {.save_steps = 4, .threads = 0},
        {.input = numbers(), .max_steps = 8, .epochs = -1, .stop = stop.get_token(), .evaluates_after_stop = evaluates},
        {.input = input, .throttle_secs = 0}, &report);
    ASSERT_TRUE(trained) << trained.error();
    EXPECT_EQ(report.last_step, 4);
    EXPECT_EQ(report.evaluations.size(), evaluates ? 1U : 0U) << "a part of one is none";
  }
}

TEST(TrainAndEvaluate, AFailedSaveIsAWarningUnlessItIsTheLast) {
  std::string said;
  set_log_sink([&](LogLevel, std::string_view line) { said += line; });
  for (const int64_t full_from : {7, 23}) {
    const TempFolder temp;
    Played played;
    const auto fails = std::make_shared<std::atomic<bool>>(false);
    struct Disk final : Hook {
      int64_t from;
      std::shared_ptr<std::atomic<bool>> full;
      Disk(int64_t first, std::shared_ptr<std::atomic<bool>> flag) : from(first), full(std::move(flag)) {}
      std::string_view name() const override { return "disk"; }
      Result<void> after_run(HookContext& context, double, const Metrics&) override {
        *full = context.step >= from && context.step < from + 3;
        if (*full && context.events != nullptr) (void)context.events->flush();  // Its error stays.
        return {};
      }
    };
    {
      const internal::FaultInjection injection(
          [&](std::string_view call) -> internal::Fault { return {.error = call != "close" && *fails ? ENOSPC : 0}; });
      play(played, {.model_dir = temp.path(), .asynchronous_save = false}, 1000,
           {std::make_shared<Disk>(full_from, fails), summary_saver_hook({.steps = 1}),
            profiler_hook({.every = {.steps = 1}})},
           {latest_exporter()});
    }
    EXPECT_EQ(played.toy.losses.size(), 23U);
    EXPECT_EQ(played.result.has_value(), full_from == 7);
    EXPECT_THAT(said, HasSubstr(fmt::format("the checkpoint of step {} is not written", full_from == 7 ? 8 : 23)));
    EXPECT_TRUE(std::filesystem::exists(temp.file("export/latest/12/model.pt")));
    EXPECT_FALSE(std::filesystem::exists(temp.file(fmt::format("export/latest/{}/model.pt", full_from == 7 ? 8 : 23))));
    EXPECT_TRUE(std::filesystem::exists(temp.file("timeline-5.json")));
  }
  EXPECT_THAT(said, HasSubstr("exporter latest: "));
  EXPECT_THAT(said, HasSubstr("profiler_hook: "));
  EXPECT_EQ(test::times_in(said, "there are no more charts"), 2U) << "once a training";
  set_log_sink({});
}

TEST(TrainAndEvaluate, AStartOnAFullDiskCostsTheChartsOnly) {
  for (const int error : {ENOSPC, EROFS}) {
    const TempFolder temp;
    Played first, second;
    play(first, {.model_dir = temp.path()}, 8);
    ASSERT_TRUE(first.result);
    std::string said;
    set_log_sink([&](LogLevel, std::string_view line) { said += line; });
    const auto fails = std::make_shared<std::atomic<bool>>(true);
    struct MakesRoom final : Hook {
      explicit MakesRoom(std::shared_ptr<std::atomic<bool>> flag) : full(std::move(flag)) {}
      std::string_view name() const override { return "makes_room"; }
      Result<void> after_run(HookContext& context, double, const Metrics&) override {
        EXPECT_EQ(context.events, nullptr);
        *full = false;
        return {};
      }
      std::shared_ptr<std::atomic<bool>> full;
    };
    {
      const internal::FaultInjection injection(
          [&](std::string_view call) -> internal::Fault { return {.error = call == "write" && *fails ? error : 0}; });
      play(second, {.model_dir = temp.path(), .summary_steps = 1}, 1000, {std::make_shared<MakesRoom>(fails)});
    }
    set_log_sink({});
    if (error == ENOSPC) {
      ASSERT_TRUE(second.result) << second.result.error();
      EXPECT_EQ(second.report.resumed_from, 8);
      EXPECT_TRUE(std::filesystem::exists(temp.file("checkpoint-23")));
      EXPECT_EQ(test::times_in(said, "there are no charts: "), 1U) << said;
      EXPECT_THAT(said, HasSubstr("tfevents"));
    } else {
      EXPECT_FALSE(second.result) << "control: a folder that cannot be written";
    }
  }
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

TEST(TrainAndEvaluate, TheInputOfEvaluationsIsMadeOnceAndItsCacheStays) {
  for (const bool with_cache : {true, false}) {
    std::atomic<int> made = 0;
    Dataset input = range(6) | map([&](int64_t x) {
                      ++made;
                      return x;
                    });
    if (with_cache) input = input | cache();
    Toy toy;
    TrainingReport report;
    ASSERT_TRUE(train_and_evaluate(toy, {.save_steps = 2, .threads = 1},
                                   {.input = numbers(), .max_steps = 20, .epochs = -1},
                                   {.input = input | batch(2), .throttle_secs = 0}, &report));
    EXPECT_EQ(report.evaluations.size(), 10U);
    EXPECT_EQ(made, with_cache ? 6 : 60) << "by the first evaluation; control: by each";
  }
}

TEST(TrainAndEvaluate, BothInputsShareThreadsAndMemory) {
  std::atomic<int> inside = 0, most = 0;
  const auto input = [&] {
    return range(200) | map([&](int64_t x) {
             const int now = ++inside;
             for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
             }
             volatile int64_t sum = 0;
             for (int i = 0; i < 20'000; ++i) sum = sum + i;
             --inside;
             return x;
           }) |
           batch(4);
  };
  Toy toy;
  TrainingReport report;
  ASSERT_TRUE(train_and_evaluate(toy, {.save_steps = 10, .threads = 1, .memory = 1 << 20},
                                 {.input = input(), .max_steps = 40}, {.input = input(), .throttle_secs = 0}, &report));
  EXPECT_EQ(report.evaluations.size(), 4U);
  EXPECT_EQ(most, 1) << "two Loaders with a thread each would have two inside at times";
  EXPECT_LE(report.train.memory_peak, 1 << 20);
  EXPECT_EQ(report.eval.batches, 200);
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

TEST(TrainAndEvaluate, RefusesOptionsThatContradictThemselves) {
  Toy toy;
  const TrainSpec train{.input = numbers()};
  const EvalSpec eval{.input = numbers()};
  const auto refused = [&](const RunConfig& config, const TrainSpec& t, const EvalSpec& e) -> std::string {
    try {
      (void)train_and_evaluate(toy, config, t, e);
    } catch (const Exception& exception) {
      EXPECT_EQ(exception.error().kind(), ErrorKind::InvalidArgument);
      return exception.error().message();
    }
    ADD_FAILURE() << "it is not refused";
    return "";
  };
  refused({.save_steps = 1, .save_secs = 1}, train, eval);
  refused({.save_steps = 0}, train, eval);
  refused({.keep = 0}, train, eval);
  refused({.threads = 5000}, train, eval);
  refused({.memory = 0}, train, eval);
  refused({.log_steps = -1}, train, eval);
  refused({}, {.input = numbers(), .max_steps = 0}, eval);
  refused({}, train, {.input = numbers(), .steps = 0});
  refused({}, train, {.input = numbers(), .throttle_secs = -1});
  refused({}, train, {.input = numbers(), .throttle_secs = std::nan("")});
  refused({.save_secs = std::nan("")}, train, eval);
  refused({.save_secs = 0}, train, eval);
  refused({}, {.input = numbers(), .epochs = 0}, eval);
  EXPECT_THAT(refused({}, {.input = numbers(), .hooks = {nan_hook(), nullptr}}, eval),
              HasSubstr("TrainSpec::hooks[1] is null"));
  EXPECT_THAT(refused({}, train, {.input = numbers(), .hooks = {nullptr}}), HasSubstr("EvalSpec::hooks[0] is null"));
  EXPECT_THAT(refused({.model_dir = "never"}, train, {.input = numbers(), .exporters = {nullptr}}),
              HasSubstr("EvalSpec::exporters[0] is null"));
  EXPECT_THAT(refused({}, train, {.input = numbers(), .exporters = {final_exporter()}}),
              HasSubstr("exporters need a model_dir"));
  EXPECT_THAT(refused({.model_dir = "never"}, train,
                      {.input = numbers(), .exporters = {latest_exporter(), final_exporter("latest")}}),
              HasSubstr("two exporters are named 'latest'"));
  EXPECT_FALSE(std::filesystem::exists("never"));
  EXPECT_TRUE(toy.losses.empty());
}

TEST(TrainAndEvaluate, AnEvaluationWithoutAnEndIsRefused) {
  Toy toy;
  const TrainSpec train{.input = numbers(), .max_steps = 2};
  const Dataset endless = range(6) | batch(2) | repeat();
  EXPECT_THROW((void)train_and_evaluate(toy, {}, train, {.input = endless, .steps = std::nullopt}), Exception);
  EXPECT_TRUE(toy.losses.empty());
  TrainingReport report;
  ASSERT_TRUE(train_and_evaluate(toy, {}, train, {.input = endless, .steps = 4}, &report)) << "control";
  EXPECT_EQ(report.evaluations.back().evaluation.metrics.at("loss").count, 4);
  ASSERT_TRUE(train_and_evaluate(toy, {}, train, {.input = range(6) | batch(2), .steps = std::nullopt})) << "control";
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

struct ChangesFolder final : Hook {
  explicit ChangesFolder(std::string folder) : to(std::move(folder)) {}
  std::string_view name() const override { return "changes_folder"; }
  Result<void> after_run(HookContext& context, double, const Metrics&) override {
    if (context.step == 2) std::filesystem::current_path(to);
    return {};
  }
  const std::string to;
};

TEST(TrainAndEvaluate, ARelativeModelDirIsThatOfTheStart) {
  const TempFolder temp, other;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(temp.path());
  Played played;
  play(played, {.model_dir = "model"}, 9, {std::make_shared<ChangesFolder>(other.path())}, {final_exporter()});
  std::filesystem::current_path(before);
  ASSERT_TRUE(played.result) << played.result.error();
  EXPECT_TRUE(std::filesystem::exists(temp.file("model/checkpoint-9")));
  EXPECT_TRUE(std::filesystem::exists(temp.file("model/export/final/9/model.pt")));
  EXPECT_EQ(other.count(), 0U);
}

}  // namespace
}  // namespace headpond

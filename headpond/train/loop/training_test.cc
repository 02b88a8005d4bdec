// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/loop/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/dataset/ops.h"
#include "headpond/train/loop/hooks.h"
#include "headpond/train/loop/training_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::lines;
using internal::numbers;
using internal::play;
using internal::Played;
using internal::Toy;
using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;

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

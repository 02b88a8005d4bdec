// SPDX-License-Identifier: Apache-2.0
// Trainings that are stopped: when they end, and that those that go on do what one does that is not stopped.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "headpond/dataset/ops.h"
#include "headpond/train/loop/hooks.h"
#include "headpond/train/loop/training.h"
#include "headpond/train/loop/training_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::numbers;
using internal::Toy;
using test::TempFolder;
using testing::ElementsAre;

constexpr int64_t kSaveSteps = 4;

// Requests a stop after a step.
struct StopsAt final : Hook {
  explicit StopsAt(int64_t at) : step(at) {}
  std::string_view name() const override { return "stops"; }
  Result<void> after_run(HookContext& context, double, const Metrics&) override {
    if (context.step == step) source.request_stop();
    return {};
  }
  const int64_t step;
  std::stop_source source;
};

struct Options {
  double throttle_secs = 0;
  bool evaluates_after_stop = true;
  std::optional<int64_t> max_steps = 40;
};

// Runs of one training, each to a step at which it is stopped; the last one is not.
struct Runs {
  std::vector<double> losses;
  std::map<int64_t, std::string> evaluations;  // By step; those of stops between two saves left out.
  std::vector<int64_t> of_the_last;            // Its evaluations.
  std::map<std::string, std::string> learned;
  int64_t last_step = 0;
  std::string why_it_ended;
};

void run(Runs& runs, const std::string& folder, int64_t stop_at, const Options& options) {
  Toy toy;
  TrainingReport report;
  const auto stops = std::make_shared<StopsAt>(stop_at);
  const auto early = early_stopping_hook({.max_steps_without_decrease = 10});
  const auto trained = train_and_evaluate(
      toy, {.model_dir = folder, .save_steps = kSaveSteps, .log_steps = 0, .summary_steps = 0, .threads = 0},
      {.input = numbers(),
       .max_steps = options.max_steps,
       .hooks = {stops, early},
       .epochs = -1,
       .stop = stops->source.get_token(),
       .evaluates_after_stop = options.evaluates_after_stop},
      {.input = range(6) | batch(2), .throttle_secs = options.throttle_secs}, &report);
  ASSERT_TRUE(trained) << trained.error();
  runs.losses.insert(runs.losses.end(), toy.losses.begin(), toy.losses.end());
  runs.of_the_last.clear();
  for (const auto& [one, wait] : report.evaluations) {
    runs.of_the_last.push_back(one.step);
    if (one.step == stop_at && one.step % kSaveSteps != 0) continue;
    runs.evaluations[one.step] += fmt::format("{:a} ", one.metrics.at("loss").value());
  }
  runs.learned = toy.save();
  runs.last_step = report.last_step;
  runs.why_it_ended = report.why_it_ended;
}

Runs stopped_at(const std::vector<int64_t>& stops, const Options& options = {}) {
  const TempFolder temp;
  Runs runs;
  for (const int64_t stop : stops) run(runs, temp.path(), stop, options);
  run(runs, temp.path(), -1, options);
  return runs;
}

TEST(StoppedTrainings, SaveEvaluateAndStopEarlyAsIfTheyHadNotBeen) {
  const Runs whole = stopped_at({});
  ASSERT_THAT(whole.why_it_ended, testing::HasSubstr("early_stopping_hook"));
  ASSERT_EQ(whole.last_step, 16) << "no lower loss than that of step 4 for 12 steps";
  std::vector<std::vector<int64_t>> stops = {{3, 6, 7}, {6, 10, 14}, {5, 13}};
  for (int64_t step = 1; step < whole.last_step; ++step) stops.push_back({step});
  for (const auto& some : stops) {
    for (const bool evaluates : {true, false}) {
      const Runs runs = stopped_at(some, {.evaluates_after_stop = evaluates});
      const std::string where = fmt::format("stopped at {}, {}", testing::PrintToString(some), evaluates);
      EXPECT_EQ(runs.losses, whole.losses) << where;
      EXPECT_EQ(runs.learned, whole.learned) << where;
      EXPECT_EQ(runs.last_step, whole.last_step) << where;
      EXPECT_EQ(runs.why_it_ended, whole.why_it_ended) << where;
      for (const auto& [step, value] : whole.evaluations)
        EXPECT_TRUE(runs.evaluations.at(step).starts_with(value)) << where << ", step " << step;
      EXPECT_EQ(runs.evaluations.size(), whole.evaluations.size()) << where;
    }
  }
}

TEST(StoppedTrainings, CountTheThrottleFromTheEvaluationBefore) {
  const double never = 1e9;
  EXPECT_THAT(stopped_at({}, {.throttle_secs = never}).of_the_last, ElementsAre(4, 40));
  EXPECT_THAT(stopped_at({2}, {.throttle_secs = never}).of_the_last, ElementsAre(4, 40));
  EXPECT_THAT(stopped_at({6}, {.throttle_secs = never}).of_the_last, ElementsAre(40)) << "4 came before";
  EXPECT_THAT(stopped_at({8}, {.throttle_secs = never}).of_the_last, ElementsAre(40));
  EXPECT_THAT(stopped_at({4}, {.throttle_secs = never}).of_the_last, ElementsAre(4, 40)) << "that of 4 again";
}

TEST(StoppedTrainings, MaxStepsMayBeRaised) {
  const TempFolder temp;
  Runs runs;
  const Runs whole = stopped_at({});
  for (const int64_t max_steps : {3, 4, 9, 40}) run(runs, temp.path(), -1, {.max_steps = max_steps});
  EXPECT_EQ(runs.losses, whole.losses);
  EXPECT_EQ(runs.learned, whole.learned);
  EXPECT_THAT(runs.of_the_last, ElementsAre(12, 16)) << "not 9, 13, 17";
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
TEST(StoppedTrainings, EndTheirWaitForABatch) {
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

TEST(StoppedTrainings, MayEndAnEvaluation) {
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

}  // namespace
}  // namespace headpond

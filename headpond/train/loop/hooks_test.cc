// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/loop/hooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "headpond/base/log.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;

// A clock that goes on by a second a step.
struct Training {
  int64_t now = 0;
  HookContext context;
  std::string said;

  HookClock clock() {
    return [this] { return now; };
  }
  /// Steps from the context's on; true iff the hook asked to stop. `loss` of each step.
  Result<bool> run(Hook& hook, int64_t steps, double loss = 0.5) {
    set_log_sink([this](LogLevel, std::string_view line) { said += std::string(line) + "\n"; });
    const auto result = [&]() -> Result<bool> {
      HEADPOND_TRY(hook.begin(context));
      for (int64_t i = 0; i < steps && !context.stop(); ++i) {
        HEADPOND_TRY(hook.before_run(context));
        now += 1'000'000'000;
        ++context.step;
        HEADPOND_TRY(hook.after_run(context, loss, {{"accuracy", {3, 4}}}));
      }
      HEADPOND_TRY(hook.end(context));
      return context.stop().has_value();
    }();
    set_log_sink({});
    return result;
  }
};

TEST(StopAtStepHook, AfterANumberOfStepsOrAtOne) {
  Training some, last, none;
  some.context.step = last.context.step = 10;
  EXPECT_TRUE(*some.run(*stop_at_step_hook({.num_steps = 5}), 100));
  EXPECT_EQ(some.context.step, 15);
  EXPECT_TRUE(*last.run(*stop_at_step_hook({.last_step = 12}), 100));
  EXPECT_EQ(last.context.step, 12);
  EXPECT_FALSE(*none.run(*stop_at_step_hook({.last_step = 101}), 100)) << "control";
  EXPECT_THROW((void)stop_at_step_hook({}), Exception);
  EXPECT_THROW((void)stop_at_step_hook({.num_steps = 1, .last_step = 1}), Exception);
}

TEST(LoggingHook, SaysTheLossAndTheRate) {
  Training training;
  const auto hook = logging_hook({.steps = 3}, training.clock());
  EXPECT_TRUE(training.run(*hook, 5));
  EXPECT_EQ(training.said,
            "step 1: loss 0.5, accuracy 0.75\n"
            "step 4: loss 0.5, accuracy 0.75 (1 steps/s)\n");
}

// The rates that a hook tells of: an evaluation of 9 seconds after each step of one.
TEST(RateHooks, LeaveTheTimeOfEvaluationsOut) {
  const TempFolder temp;
  Training training;
  auto events = value_or_throw(EventWriter::open(temp.path()));
  training.context.events = events.get();
  const auto hook = logging_hook({.steps = 3}, training.clock());
  const auto counter = step_counter_hook({.steps = 3}, training.clock());
  for (int step = 0; step < 7; ++step) {
    EXPECT_TRUE(training.run(*hook, 1));
    --training.context.step;
    training.now -= 1'000'000'000;
    if (step == 0) {
      ASSERT_TRUE(counter->begin(training.context));
    }
    training.now += 1'000'000'000;
    ++training.context.step;
    ASSERT_TRUE(counter->after_run(training.context, 0.5, {}));
    training.now += 9'000'000'000;
    for (const auto& each : {hook, counter})
      ASSERT_TRUE(each->evaluated(training.context, {.step = training.context.step, .seconds = 9}));
  }
  EXPECT_EQ(test::times_in(training.said, "(1 steps/s)"), 2U) << training.said << "with them: 0.1";
  ASSERT_TRUE(events->close());
  const auto bytes = test::get_file(events->path());
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string one("global_step/sec\x15\0\0\x80\x3f", 20);  // The tag, and simple_value 1.
  EXPECT_EQ(test::times_in(text, one), 2U);
  EXPECT_EQ(test::times_in(text, "global_step/sec"), 2U) << "none is another number";
}

TEST(LoggingHook, MayCountSeconds) {
  Training training;
  EXPECT_TRUE(training.run(*logging_hook({.seconds = 1.5}, training.clock()), 5));
  EXPECT_THAT(training.said, HasSubstr("step 3: "));
  EXPECT_EQ(test::times_in(training.said, "\n"), 3U) << "steps 1, 3, 5";
  EXPECT_THROW((void)logging_hook({}), Exception);
  EXPECT_THROW((void)logging_hook({.steps = 1, .seconds = 1}), Exception);
  EXPECT_THROW((void)logging_hook({.steps = 0}), Exception);
  EXPECT_THROW((void)logging_hook({.seconds = std::nan("")}), Exception);
}

TEST(SummaryHooks, WriteTensorFlowsTags) {
  const TempFolder temp;
  Training training;
  auto events = value_or_throw(EventWriter::open(temp.path()));
  training.context.events = events.get();
  EXPECT_TRUE(training.run(*summary_saver_hook({.steps = 2}, training.clock()), 2));
  EXPECT_TRUE(training.run(*step_counter_hook({.steps = 2}, training.clock()), 4));
  ASSERT_TRUE(events->close());
  const auto bytes = test::get_file(events->path());
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_EQ(test::times_in(text, "accuracy"), 1U);
  EXPECT_EQ(test::times_in(text, "loss"), 1U);
  EXPECT_EQ(test::times_in(text, "global_step/sec"), 2U);
  Training without;
  EXPECT_TRUE(without.run(*summary_saver_hook(), 2)) << "no model_dir, no charts";
}

TEST(NanHook, FailsOrStops) {
  Training fails, stops, control;
  EXPECT_EQ(fails.run(*nan_hook(), 5, std::nan("")).error().kind(), ErrorKind::DataLoss);
  EXPECT_TRUE(*stops.run(*nan_hook(false), 5, std::nan("")));
  EXPECT_EQ(stops.context.step, 1);
  EXPECT_FALSE(*control.run(*nan_hook(), 5));
}

TEST(ProfilerHook, WritesATimelineOfAStep) {
  const TempFolder temp;
  Training training;
  training.context.model_dir = temp.path();
  EXPECT_TRUE(training.run(*profiler_hook({.every = {.steps = 3}}, training.clock()), 5));
  EXPECT_TRUE(std::filesystem::exists(temp.file("timeline-1.json")));
  EXPECT_TRUE(std::filesystem::exists(temp.file("timeline-4.json")));
  EXPECT_EQ(temp.count(), 2U);
  Training nowhere;
  EXPECT_EQ(nowhere.run(*profiler_hook(), 1).error().kind(), ErrorKind::InvalidArgument);
}

// The step at which it stops for evaluations at steps 10, 20, ...; 0: it does not.
int64_t stops_at(Hook& hook, const std::vector<double>& losses, int64_t first = 10) {
  HookContext context;
  int64_t step = first;
  for (const double loss : losses) {
    EXPECT_TRUE(hook.evaluated(context, {step, {{"loss", {loss, 1}}}}));
    if (context.stop()) return step;
    step += 10;
  }
  return 0;
}

TEST(EarlyStoppingHook, StopsWhenNothingGetsBetter) {
  const auto hook = [](int64_t min_steps) {
    return early_stopping_hook({.max_steps_without_decrease = 20, .min_steps = min_steps});
  };
  EXPECT_EQ(stops_at(*hook(0), {5, 4, 4, 4, 4}), 40);
  EXPECT_EQ(stops_at(*hook(50), {5, 4, 4, 4, 4}), 50);
  EXPECT_EQ(stops_at(*hook(0), {5, 4, 4, 3, 3}), 0) << "control";
  HookContext context;
  EXPECT_EQ(hook(0)->evaluated(context, {10, {}}).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_THROW((void)early_stopping_hook({}), Exception);
}

TEST(EarlyStoppingHook, GoesOnFromACheckpoint) {
  const auto first = early_stopping_hook({.max_steps_without_decrease = 20});
  EXPECT_EQ(stops_at(*first, {5, 4}), 0);
  HookState saved;
  first->visit_state(saved);
  HookState read = value_or_throw(HookState::from_text(saved.to_text()));
  const auto second = early_stopping_hook({.max_steps_without_decrease = 20});
  const auto other = early_stopping_hook({.max_steps_without_decrease = 20});
  second->visit_state(read);
  EXPECT_EQ(stops_at(*second, {4, 4, 4}, 30), 40);
  EXPECT_EQ(stops_at(*other, {4, 4, 4}, 30), 50) << "control: one that was not restored";
}

}  // namespace
}  // namespace headpond

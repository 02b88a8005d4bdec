// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/spoken/spoken_run.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <thread>

#include "headpond/train/articles/digits/tones.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

struct Words {
  test::TempFolder temp;
  SpokenSets sets;
  Words() {
    EXPECT_TRUE(draw_tones(temp.path(), {.takes = 7}));
    sets = *find_spoken(temp.path());
  }
};

// 40 words for the training, 100 for the test.
SpokenRunOptions options_of(SpokenInputs inputs) {
  return {.inputs = inputs, .epochs = 3, .config = {.save_steps = 2, .seed = 7, .threads = 2}};
}

TEST(SpokenRun, WarmInputsAreReadOnceAndFreshOnesInEachCall) {
  const Words words;
  const SpokenPace pace = {.prepare_s = 1e-4, .train_s = 1e-4};
  const auto warm = run_paced_spoken(words.sets, 10, pace, options_of(SpokenInputs::warm));
  const auto turn = run_paced_spoken(words.sets, 10, pace, options_of(SpokenInputs::turn));
  const auto fresh = run_paced_spoken(words.sets, 10, pace, options_of(SpokenInputs::fresh));
  ASSERT_TRUE(warm && turn && fresh);
  for (const auto* const run : {&*warm, &*turn, &*fresh}) {
    EXPECT_EQ(run->losses.size(), 12U);
    EXPECT_EQ(run->report.last_step, 12);
    ASSERT_EQ(run->evaluations.size(), 6U);
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(run->evaluations[i].evaluation.step, static_cast<int64_t>(2 * i + 2));
      EXPECT_EQ(run->evaluations[i].next_wait_ms.has_value(), i < 5);
      EXPECT_EQ(run->evaluations[i].evaluation.metrics, warm->evaluations[0].evaluation.metrics) << "equal weights";
      const bool reads = i == 0 || run == &*fresh;
      EXPECT_EQ(run->evaluations[i].files_opened, reads ? 100 : 0);
      EXPECT_EQ(run->evaluations[i].bytes_read > 0, reads);
    }
  }
  EXPECT_EQ(turn->losses, warm->losses);
  EXPECT_NE(fresh->losses, warm->losses) << "its later calls have other seeds";
}

TEST(SpokenRun, InTurnAStepTakesBothTimesAndWaitsForItsBatch) {
  const Words words;
  const SpokenPace pace = {.prepare_s = 4e-3, .train_s = 2e-3};
  const auto turn = run_paced_spoken(words.sets, 10, pace, options_of(SpokenInputs::turn));
  ASSERT_TRUE(turn);
  EXPECT_GE(turn->clock.step_s(), 6e-3);
  EXPECT_GE(turn->clock.wait_share(), 0.1);
  EXPECT_EQ(limit_s(pace, 2), 2e-3);
  EXPECT_EQ(limit_s({.prepare_s = 4e-3, .train_s = 1e-3, .computes = true}, 2), 2e-3);
}

TEST(SpokenRun, RefusesWhatCannotBe) {
  const Words words;
  const auto refused = [&](const SpokenRunOptions& options) {
    EXPECT_THROW((void)run_paced_spoken(words.sets, 10, {}, options), Exception);
  };
  refused({.epochs = -1});
  refused({.inputs = SpokenInputs::fresh});
  refused({.inputs = SpokenInputs::fresh, .config = {.model_dir = words.temp.file("model"), .save_steps = 2}});
  std::stop_source stop;
  stop.request_stop();
  SpokenRunOptions stopped = options_of(SpokenInputs::warm);
  stopped.stop = stop.get_token();
  EXPECT_EQ(run_paced_spoken(words.sets, 10, {}, stopped).error().kind(), ErrorKind::Cancelled);
}

TEST(SpokenRun, AStopMayComeAtAnyTimeWithFreshInputsToo) {
  const Words words;
  for (int after_ms = 0; after_ms < 40; after_ms += 4) {
    std::stop_source stop;
    SpokenRunOptions options = options_of(SpokenInputs::fresh);
    options.stop = stop.get_token();
    options.max_steps = 100'000;
    options.epochs = -1;
    std::thread stopping([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(after_ms));
      stop.request_stop();
    });
    SpokenRun so_far;
    const auto ran = run_paced_spoken(words.sets, 10, {.train_s = 0.001}, options, &so_far);
    EXPECT_EQ(ran.error().kind(), ErrorKind::Cancelled);
    EXPECT_EQ(static_cast<int64_t>(so_far.losses.size()), so_far.report.last_step);
    EXPECT_EQ(so_far.evaluations.size(), so_far.report.evaluations.size());
    stopping.join();
  }
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/blstm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "headpond/base/cpu.h"

namespace headpond {
namespace {

using testing::HasSubstr;

BlstmOptions tiny() {
  return {.steps = 5, .batch = 6, .time = 5, .features = 7, .hidden = 4, .capacity = 2, .seed = 3};
}

class BlstmRunSource : public testing::TestWithParam<NormalSource> {};

TEST_P(BlstmRunSource, ModesSeeTheSameBatchesAndMakeTheSameLossesToTheLastBit) {
  BlstmOptions options = tiny();
  options.generator = GetParam();
  const BlstmResult result = train_blstm(options).value();
  ASSERT_EQ(result.feed.value().losses.size(), 5U);
  for (const BlstmMode& mode : {result.queue.value(), result.loader.value()}) {
    EXPECT_EQ(result.feed.value().losses, mode.losses);
    EXPECT_EQ(result.feed.value().batch_digests, mode.batch_digests);
  }
  EXPECT_TRUE(result.losses_equal.value());
  EXPECT_NE(result.feed.value().batch_digests[0], result.feed.value().batch_digests[1]);
}

INSTANTIATE_TEST_SUITE_P(Sources, BlstmRunSource, testing::Values(NormalSource::standard, NormalSource::headpond),
                         [](const auto& instance) {
                           return instance.param == NormalSource::standard ? "Standard" : "Headpond";
                         });

TEST(BlstmRun, LossesOfAnotherSeedAreRejected) {
  BlstmOptions options = tiny();
  const BlstmResult one = train_blstm(options).value();
  options.seed = 4;
  const BlstmResult other = train_blstm(options).value();
  EXPECT_NE(one.feed.value().losses, other.feed.value().losses);
  EXPECT_NE(one.feed.value().batch_digests, other.feed.value().batch_digests);
}

TEST(BlstmRun, BlocksOfAnotherSizeChangeNoLoss) {
  BlstmTrial trial(tiny());
  for (const int64_t steps : {1, 3, 1}) ASSERT_TRUE(trial.round(steps));
  const BlstmResult result = trial.result(), whole = train_blstm(tiny()).value();
  EXPECT_EQ(result.queue.value().losses, whole.feed.value().losses);
  EXPECT_EQ(result.loader.value().losses, whole.feed.value().losses);
}

TEST(BlstmRun, LossesFallOnSamplesThatCanBeLearned) {
  // The sum over a sample is a linear function of it, so one with few values is learned quickly.
  const BlstmResult result = train_blstm({.queue = false,
                                          .loader = false,
                                          .all_cores = false,
                                          .steps = 120,
                                          .batch = 200,
                                          .time = 2,
                                          .features = 2,
                                          .hidden = 8,
                                          .lr = 0.02})
                                 .value();
  EXPECT_NEAR(result.feed.value().losses.front(), std::log(2.0F), 0.3F);
  EXPECT_LT(result.feed.value().losses.back(), 0.3F);
}

TEST(BlstmRun, FiguresFitTogether) {
  const BlstmResult result = train_blstm(tiny()).value();
  ASSERT_EQ(result.rounds.size(), 2U);
  for (const BlstmMode& mode : {result.feed.value(), result.queue.value(), result.loader.value()}) {
    EXPECT_NEAR(mode.step_s, mode.train_s + mode.wait_s, 1e-9);
    EXPECT_NEAR(mode.wait_share, mode.wait_s / mode.step_s, 1e-9);
    EXPECT_GE(mode.stopwatch_wait_s, mode.wait_s);
    EXPECT_GT(mode.generate_s, 0);
  }
  EXPECT_GT(result.ceiling.value(), 0);
  EXPECT_LT(result.ceiling.value(), 1);
  for (const BlstmGain& gain : {result.queue_gain.value(), result.loader_gain.value()}) {
    EXPECT_LT(gain.saved_vs_feed, 1);
    EXPECT_GT(gain.step_over_limit, 0);
  }
}

TEST(BlstmRun, RunsOneModeAlone) {
  BlstmOptions options = tiny();
  options.feed = options.loader = options.all_cores = false;
  const BlstmResult result = train_blstm(options).value();
  EXPECT_FALSE(result.feed);
  EXPECT_FALSE(result.losses_equal);
  EXPECT_FALSE(result.queue_gain);
  EXPECT_EQ(result.queue.value().losses.size(), 5U);
}

TEST(BlstmRun, LoaderAloneMakesTheSameLosses) {
  BlstmOptions options = tiny();
  options.feed = options.queue = options.all_cores = false;
  const BlstmResult result = train_blstm(options).value();
  EXPECT_FALSE(result.losses_equal);
  EXPECT_EQ(result.loader.value().losses, train_blstm(tiny()).value().feed.value().losses);
}

TEST(BlstmRun, TrainerLeavesItsThreadOnAllCpus) {
  const auto before = allowed_cpus();
  ASSERT_TRUE(train_blstm(tiny()));
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(BlstmRun, WrongOptionsAreRefusedWithTheirNames) {
  BlstmOptions options = tiny();
  options.capacity = 0;
  try {
    BlstmTrial trial(options);
    FAIL() << "capacity 0 was taken";
  } catch (const Exception& e) {
    EXPECT_EQ(e.error().kind(), ErrorKind::InvalidArgument);
    EXPECT_THAT(e.what(), HasSubstr("capacity must be at least 1, got 0"));
  }
  EXPECT_THROW(BlstmTrial({.feed = false, .queue = false, .loader = false, .all_cores = false}), Exception);
}

TEST(BlstmRun, StopEndsTheRunAndItsProducer) {
  std::stop_source source;
  BlstmOptions options = tiny();
  options.steps = 1'000'000;
  options.all_cores = false;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    source.request_stop();
  });
  const auto result = train_blstm(options, {.stop = source.get_token()});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::Cancelled);
}

TEST(BlstmRound, LimitIsTheLongerOfGenerateAndTrain) {
  EXPECT_DOUBLE_EQ((BlstmRound{.generate_s = 2, .train_s = 1}).over_limit(2.02), 1.01);
  EXPECT_DOUBLE_EQ((BlstmRound{.generate_s = 1, .train_s = 2}).over_limit(3), 1.5);
}

}  // namespace
}  // namespace headpond

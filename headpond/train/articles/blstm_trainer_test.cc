// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "headpond/train/articles/blstm_trainer_internal.h"

namespace headpond {
namespace {

using internal::BlstmTrainer;

const BlstmOptions kTiny = {.batch = 6, .time = 5, .features = 7, .hidden = 4};

Tensor constant_batch(float value) {
  const std::vector<float> values(5 * 6 * 7, value);
  return Tensor::from(std::span<const float>(values), {5, 6, 7});
}

TEST(BlstmTrainer, LearnsThatPositiveSumsArePositive) {
  BlstmTrainer trainer({.batch = 6, .time = 5, .features = 7, .hidden = 4, .lr = 0.05});
  float loss = 1;
  for (int i = 0; i < 50; ++i) {
    loss = trainer.step(constant_batch(0.5F), {}).value() + trainer.step(constant_batch(-0.5F), {}).value();
  }
  EXPECT_LT(loss, 0.2F);
}

TEST(BlstmTrainer, DoesNotChangeTheBatch) {
  const Tensor batch = constant_batch(0.5F);
  ASSERT_TRUE(BlstmTrainer(kTiny).step(batch, {}));
  for (const float x : batch.as<float>()) ASSERT_EQ(x, 0.5F);
}

TEST(BlstmTrainer, BatchOfAnotherWidthIsAnErrorNotAnException) {
  const std::vector<float> values(5 * 6 * 3, 1);
  const auto refused = BlstmTrainer(kTiny).step(Tensor::from(std::span<const float>(values), {5, 6, 3}), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::Unknown);
}

TEST(BlstmTrainer, StopComesBeforeTheUpdate) {
  BlstmTrainer trainer(kTiny), untouched(kTiny);
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(trainer.step(constant_batch(0.5F), source.get_token()).error().kind(), ErrorKind::Cancelled);
  EXPECT_EQ(trainer.step(constant_batch(1), {}).value(), untouched.step(constant_batch(1), {}).value());
}

TEST(BlstmLog, LeavesOutTheFirstStepOfEachBlock) {
  internal::BlstmLog log;
  log.steps = {{900, 800, 801, true}, {100, 10, 11, false}, {900, 600, 600, true}, {200, 30, 31, false}};
  const BlstmMode mode = log.mode();
  EXPECT_DOUBLE_EQ(mode.step_s, 150e-9);
  EXPECT_DOUBLE_EQ(mode.wait_s, 20e-9);
  EXPECT_DOUBLE_EQ(mode.stopwatch_wait_s, 21e-9);
  EXPECT_DOUBLE_EQ(mode.train_s, 130e-9);
  EXPECT_DOUBLE_EQ(mode.first_wait_s, 700e-9);
}

TEST(BlstmLog, CountsFirstStepsWhereBlocksHaveNoOther) {
  internal::BlstmLog log;
  log.steps = {{900, 800, 801, true}, {700, 600, 601, true}};
  EXPECT_DOUBLE_EQ(log.mode().step_s, 800e-9);
}

TEST(Median, IsTheMiddleOne) {
  EXPECT_EQ(internal::median({3, 1, 2}), 2);
  EXPECT_EQ(internal::median({4, 1, 2, 3}), 2.5);
}

}  // namespace
}  // namespace headpond

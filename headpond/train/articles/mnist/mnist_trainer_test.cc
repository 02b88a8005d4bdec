// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/mnist/mnist_trainer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "headpond/train/articles/mnist/mnist_input.h"
#include "headpond/train/articles/mnist/mnist_test_internal.h"

namespace headpond {
namespace {

MnistData digits() {
  return {.train_images = internal::images(320),
          .train_labels = internal::labels(320, 0),
          .test_images = internal::images(100),
          .test_labels = internal::labels(100, 0)};
}

TEST(MnistTrainer, LearnsDigitsThatAreEasy) {
  const MnistData data = digits();
  MnistTrainer trainer({.lr = 0.01});
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(trainer.step(mnist_window(data, i * 4, 32)));
  EXPECT_GT(trainer.step(mnist_window(data, 7, 32)).value().correct, 30);
}

TEST(MnistTrainer, NetworkThatLearnsNothingGuesses) {
  const MnistData data = digits();
  const auto score = MnistTrainer({}).validate(data).value();
  EXPECT_LT(score.accuracy, 0.5);
  EXPECT_NEAR(score.loss, std::log(10.0), 1.0);
}

TEST(MnistTrainer, SummedLossIsTheMeanTimesTheBatch) {
  const MnistData data = digits();
  const Element batch = mnist_window(data, 0, 32);
  MnistTrainer mean({.train_batch_norm = false}), sum({.loss = LossReduction::sum, .train_batch_norm = false});
  EXPECT_NEAR(sum.step(batch).value().loss, 32 * mean.step(batch).value().loss, 1e-3);
}

TEST(MnistTrainer, ValidationChangesNothing) {
  const MnistData data = digits();
  MnistTrainer one({}), other({});
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(one.step(mnist_window(data, i, 32)).value().loss, other.step(mnist_window(data, i, 32)).value().loss);
    ASSERT_TRUE(one.validate(data));
  }
}

TEST(MnistTrainer, ValidationIsOnTheTestSet) {
  MnistData data = digits();
  MnistTrainer trainer({.lr = 0.01, .train_batch_norm = false});
  for (int i = 0; i < 150; ++i) ASSERT_TRUE(trainer.step(mnist_window(data, i, 32)));
  EXPECT_GT(trainer.validate(data).value().accuracy, 0.9);
  data.test_labels = internal::labels(100, 5);
  EXPECT_LT(trainer.validate(data).value().accuracy, 0.1);
}

TEST(MnistTrainer, BatchOfAnotherShapeIsAnError) {
  EXPECT_FALSE(MnistTrainer({}).step(Element{Tensor::scalar(1.0F), Tensor::scalar(int64_t{1})}));
}

TEST(MnistRecipe, OfTheArticle) {
  const MnistRecipe recipe = MnistRecipe::article(3);
  EXPECT_EQ(recipe.lr, 1e-4);
  EXPECT_EQ(recipe.loss, LossReduction::sum);
  EXPECT_FALSE(recipe.train_batch_norm);
  EXPECT_EQ(recipe.seed, 3U);
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/mnist/mnist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "headpond/base/cpu.h"
#include "headpond/train/articles/mnist/mnist_test_internal.h"

namespace headpond {
namespace {

using std::chrono::milliseconds;

class MnistRun : public testing::Test {
 protected:
  MnistOptions quick() {
    return {.recipe = {.lr = 0.005},
            .folder = folder_.path(),
            .producers = 3,
            .sleep = milliseconds(1),
            .capacity = 200,
            .min_after_dequeue = 100,
            .epochs = 2};
  }
  internal::DigitFolder folder_{640, 100};
};

TEST_F(MnistRun, LearnsThroughTheQueueAndValidatesEachEpoch) {
  MnistOptions options = quick();
  options.epochs = 4;
  options.recipe.train_batch_norm = false;  // Its moving statistics need hundreds of steps.
  std::vector<int64_t> seen;
  options.on_epoch = [&](const MnistEpoch& epoch) { seen.push_back(epoch.index); };
  const MnistResult result = train_mnist(options).value();
  EXPECT_THAT(seen, testing::ElementsAre(0, 1, 2, 3));
  ASSERT_EQ(result.epochs.size(), 4U);
  EXPECT_EQ(result.epochs[0].steps, 20);
  EXPECT_EQ(result.parameters, 6882);
  EXPECT_GT(result.epochs[3].train_acc, result.epochs[0].train_acc);
  EXPECT_LT(result.epochs[3].train_loss, result.epochs[0].train_loss);
  EXPECT_GT(result.epochs[3].valid_acc.value(), 0.5);
  EXPECT_EQ(result.train_images, 640);
  EXPECT_TRUE(result.queue.has_value());
}

TEST_F(MnistRun, ProducersThatSleepLimitIt) {
  MnistOptions options = quick();
  options.producers = 1;
  options.sleep = milliseconds(125);  // Longer than a step under a sanitizer on a busy machine.
  options.steps = 30;
  const MnistResult result = train_mnist(options).value();
  EXPECT_EQ(result.limit_it_per_s, 8);
  EXPECT_LT(result.epochs[0].it_per_s, 9) << "of the whole epoch: a late step does not matter";
  EXPECT_GT(result.wait_s, 0);
  EXPECT_NEAR(result.stopwatch_wait_s, result.wait_s, 0.1 * result.wait_s);
  EXPECT_NEAR(result.stopwatch_wait_share, result.wait_share, 0.1);
  EXPECT_GT(result.epochs[0].wait_share, 0);
  EXPECT_LE(result.epochs[0].wait_share, 1);
  EXPECT_GE(result.fill_s, 0.5) << "five windows of 125 ms make the minimum";
}

TEST_F(MnistRun, ReadyBatchNeedsNoQueue) {
  MnistOptions options = quick();
  options.feed = MnistFeed::ready;
  const MnistResult result = train_mnist(options).value();
  EXPECT_FALSE(result.queue.has_value());
  EXPECT_EQ(result.limit_it_per_s, result.train_it_per_s);
  EXPECT_EQ(result.fill_s, 0);
}

TEST_F(MnistRun, LearnsByTheLoaderAndValidatesEachEpoch) {
  MnistOptions options = quick();
  options.feed = MnistFeed::loader;
  options.epochs = 4;
  options.recipe.train_batch_norm = false;  // Its moving statistics need hundreds of steps.
  const MnistResult result = train_mnist(options).value();
  ASSERT_EQ(result.epochs.size(), 4U);
  EXPECT_EQ(result.epochs[3].steps, 20);
  EXPECT_LT(result.epochs[3].train_loss, result.epochs[0].train_loss);
  EXPECT_GT(result.epochs[3].valid_acc.value(), 0.5);
  EXPECT_FALSE(result.queue.has_value());
  EXPECT_EQ(result.loader.value().batches, 80);
  EXPECT_EQ(result.limit_it_per_s, result.train_it_per_s) << "sleeps that overlap do not limit";
  EXPECT_GT(result.fill_s, 0);
}

TEST_F(MnistRun, LoaderMakesTheSameLossesAgain) {
  MnistOptions options = quick();
  options.feed = MnistFeed::loader;
  const auto losses = [&] {
    std::vector<double> all;
    const MnistResult result = train_mnist(options).value();
    for (const MnistEpoch& epoch : result.epochs) all.push_back(epoch.train_loss);
    return all;
  };
  const auto one = losses();
  options.sleep = milliseconds(0);
  EXPECT_EQ(losses(), one);
  options.recipe.seed = 8;
  EXPECT_NE(losses(), one);
}

TEST_F(MnistRun, StepsAreThoseOfTheWholeRun) {
  MnistOptions options = quick();
  options.steps = 27;
  const MnistResult result = train_mnist(options).value();
  ASSERT_EQ(result.epochs.size(), 2U);
  EXPECT_EQ(result.epochs[0].steps, 20);
  EXPECT_EQ(result.epochs[1].steps, 7);
}

TEST_F(MnistRun, EarlyExitLeavesWithoutValidation) {
  MnistOptions options = quick();
  options.early_exit = 5;
  options.sleep = milliseconds(1);
  const MnistResult result = train_mnist(options).value();
  ASSERT_EQ(result.epochs.size(), 1U);
  EXPECT_EQ(result.epochs[0].steps, 5);
  EXPECT_EQ(result.epochs[0].valid_acc, std::nullopt);
}

TEST_F(MnistRun, StopEndsItWhileItWaits) {
  for (const MnistFeed feed : {MnistFeed::queue, MnistFeed::loader}) {
    std::stop_source source;
    MnistOptions options = quick();
    options.feed = feed;
    options.sleep = std::chrono::hours(1);
    std::jthread stopper([&] {
      std::this_thread::sleep_for(milliseconds(300));
      source.request_stop();
    });
    const auto result = train_mnist(options, {.stop = source.get_token()});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind(), ErrorKind::Cancelled);
  }
}

TEST_F(MnistRun, BlocksTakeTurnsOnOneNetwork) {
  MnistTrial trial(quick());
  EXPECT_EQ(trial.block(0, 25).value().steps, 25);
  EXPECT_EQ(trial.block(2, 25).value().steps, 25);
  EXPECT_EQ(trial.loader_block(25, milliseconds(30)).value().steps, 25);
  EXPECT_FALSE(trial.loader_block(0));
  EXPECT_FALSE(trial.block(2, 0));
  EXPECT_FALSE(trial.block(-1, 5));
}

TEST_F(MnistRun, LeavesItsThreadOnAllCpus) {
  const auto before = allowed_cpus();
  ASSERT_TRUE(MnistTrial(quick()).block(1, 2));
  ASSERT_TRUE(MnistTrial(quick()).loader_block(2));
  EXPECT_EQ(allowed_cpus(), before);
}

TEST_F(MnistRun, FolderThatIsNotThereIsNamed) {
  MnistOptions options = quick();
  options.folder = "/nonexistent/digits";
  const auto result = train_mnist(options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::NotFound);
  EXPECT_THAT(result.error().message(), testing::HasSubstr("/nonexistent/digits/train-images-idx3-ubyte"));
}

TEST_F(MnistRun, WrongOptionsAreRefusedWithTheirNumbers) {
  MnistOptions options = quick();
  options.capacity = 100;
  try {
    MnistTrial trial(options);
    FAIL() << "a minimum as large as the capacity was taken";
  } catch (const Exception& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("the capacity, 100, must be above min_after_dequeue, 100"));
  }
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/mnist/mnist_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "headpond/train/articles/mnist/mnist_test_internal.h"

namespace headpond {
namespace {

using std::chrono::milliseconds;

MnistData digits(int64_t n) {
  return {.train_images = internal::images(n),
          .train_labels = internal::labels(n, 0),
          .test_images = {},
          .test_labels = {}};
}

MnistInputOptions quick() {
  return {.producers = 2, .sleep = milliseconds(0), .window = 8, .batch = 16, .capacity = 100, .min_after_dequeue = 50};
}

TEST(MnistWindow, IsScaledToZeroToOneWithItsLabels) {
  const MnistData data = digits(40);
  const Element rows = mnist_window(data, 13, 5);
  const auto pixels = rows[size_t{0}].as<float>();
  ASSERT_EQ(pixels.size(), size_t{5 * 784});
  const auto bytes_of_13 = data.train_images.as<uint8_t>().subspan(size_t{13} * 784);
  for (size_t i = 0; i < pixels.size(); ++i) ASSERT_EQ(pixels[i], static_cast<float>(bytes_of_13[i]) / 255.0F);
  EXPECT_EQ(*std::max_element(pixels.begin(), pixels.end()), 1.0F);
  EXPECT_THAT(rows[size_t{1}].as<int64_t>(), testing::ElementsAre(3, 4, 5, 6, 7));
}

TEST(MnistInput, RowsKeepTheirLabelsAndAreMixed) {
  const MnistData data = digits(200);
  MnistInput input(data, quick());
  int64_t neighbours = 0;
  for (int i = 0; i < 20; ++i) {
    const Element batch = input.next({}).value();
    const auto pixels = batch[size_t{0}].as<float>();
    const auto labels = batch[size_t{1}].as<int64_t>();
    for (size_t row = 0; row < 16; ++row) {
      const size_t bright = static_cast<size_t>(2 * labels[row] + 4) * 28;
      ASSERT_EQ(pixels[row * 784 + bright], 1.0F) << "label " << labels[row] << " beside another image";
      if (row > 0 && labels[row] == (labels[row - 1] + 1) % 10) ++neighbours;
    }
  }
  EXPECT_LT(neighbours, 100) << "rows come in the order of their windows";
}

TEST(MnistInput, NothingIsTakenBelowTheMinimum) {
  const MnistData data = digits(200);
  MnistInput input(data, quick());
  ASSERT_TRUE(input.next({}));
  EXPECT_GE(input.queue().size(), 50);
}

TEST(MnistInput, EndsWhileProducersSleepLong) {
  const MnistData data = digits(200);
  MnistInputOptions options = quick();
  options.producers = 20;
  options.sleep = std::chrono::hours(1);
  { MnistInput input(data, options); }
  SUCCEED() << "not after an hour: the test's time limit";
}

// What stays when the producers can put no more: the queue's free 50, and 8 batches of 16.
TEST(MnistInput, CountsWhatIsInStore) {
  const MnistData data = digits(200);
  MnistInput input(data, quick());
  while (input.in_store() != 50 + 8 * 16 || input.queue().size() != 100) std::this_thread::yield();
  SUCCEED() << "at rest: until then what is between the two counts twice or not";
}

TEST(MnistInput, StopEndsAConsumerThatWaits) {
  const MnistData data = digits(200);
  MnistInputOptions options = quick();
  options.sleep = std::chrono::hours(1);
  MnistInput input(data, options);
  std::stop_source source;
  std::jthread stopper([&] { source.request_stop(); });
  EXPECT_EQ(input.next(source.get_token()).error().kind(), ErrorKind::Cancelled);
}

TEST(MnistInput, WrongOptionsAreRefused) {
  const MnistData data = digits(20);
  MnistInputOptions wide = quick(), none = quick(), early = quick(), empty = quick();
  empty.batch = 0;
  wide.window = 21;
  none.producers = 0;
  early.sleep = milliseconds(-1);
  for (const MnistInputOptions& options : {wide, none, early, empty})
    EXPECT_THROW(MnistInput(data, options), Exception);
}

}  // namespace
}  // namespace headpond

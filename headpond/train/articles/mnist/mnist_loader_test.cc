// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/mnist/mnist_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <thread>

#include "headpond/train/articles/mnist/mnist_input.h"
#include "headpond/train/articles/mnist/mnist_test_internal.h"

namespace headpond {
namespace {

using std::chrono::milliseconds;

// Image i tells its number: its first two pixels are i / 200 and i % 200.
MnistData numbered(int64_t n) {
  MnistData data{.train_images = internal::images(n),
                 .train_labels = internal::labels(n, 0),
                 .test_images = {},
                 .test_labels = {}};
  const auto pixels = data.train_images.mutable_as<uint8_t>();
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
    pixels[i * 784] = static_cast<uint8_t>(i / 200);
    pixels[i * 784 + 1] = static_cast<uint8_t>(i % 200);
  }
  return data;
}

int64_t number_of(std::span<const float> image) {
  return std::lround(image[0] * 255) * 200 + std::lround(image[1] * 255);
}

std::vector<int64_t> numbers_of(const Element& batch) {
  std::vector<int64_t> numbers;
  const auto pixels = batch["image"].as<float>();
  for (size_t at = 0; at < pixels.size(); at += 784) numbers.push_back(number_of(pixels.subspan(at, 784)));
  return numbers;
}

TEST(MnistLoader, ScalesAsTheQueueDoesToTheLastBit) {
  const MnistData data = numbered(64);
  MnistLoader loader(data, {.sleep = milliseconds(0), .batch = 16});
  for (int i = 0; i < 8; ++i) {
    const Element batch = loader.next().value();
    const auto numbers = numbers_of(batch);
    for (size_t row = 0; row < numbers.size(); ++row) {
      const Element expected = mnist_window(data, numbers[row], 1);
      const auto image = batch["image"].as<float>().subspan(row * 784, 784);
      EXPECT_EQ(std::memcmp(image.data(), expected[size_t{0}].data(), image.size_bytes()), 0);
      EXPECT_EQ(batch["label"].as<int64_t>()[row], expected[size_t{1}].as<int64_t>()[0]);
    }
  }
}

TEST(MnistLoader, EachEpochHasEachImageAtMostOnceInAnOrderOfItsOwn) {
  const MnistData data = numbered(70);
  MnistLoader loader(data, {.sleep = milliseconds(0), .batch = 16});
  std::vector<std::vector<int64_t>> epochs;
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto& all = epochs.emplace_back();
    for (int i = 0; i < 4; ++i) {
      for (const int64_t number : numbers_of(loader.next().value())) all.push_back(number);
    }
    EXPECT_EQ(std::set<int64_t>(all.begin(), all.end()).size(), 64U) << "an image came twice";
    EXPECT_FALSE(std::is_sorted(all.begin(), all.end()));
  }
  EXPECT_NE(epochs[0], epochs[1]);
}

TEST(MnistLoader, SleepChangesNoByte) {
  const MnistData data = numbered(200);
  MnistLoader awake(data, {.sleep = milliseconds(0)}), asleep(data, {.sleep = milliseconds(3)});
  MnistLoader other(data, {.sleep = milliseconds(0), .seed = 8});
  for (int i = 0; i < 20; ++i) {
    const auto numbers = numbers_of(awake.next().value());
    EXPECT_EQ(numbers, numbers_of(asleep.next().value()));
    EXPECT_NE(numbers, numbers_of(other.next().value()));
  }
}

TEST(MnistLoader, SleepsOnThreadsThatWait) {
  const MnistData data = numbered(200);
  MnistLoader asleep(data, {.sleep = milliseconds(1)}), awake(data, {.sleep = milliseconds(0)});
  ASSERT_TRUE(asleep.next() && awake.next());
  EXPECT_FALSE(awake.stats().stages[0].blocking);
  EXPECT_TRUE(asleep.stats().stages[0].blocking);
  // A worker starts them, when the system lets it run.
  for (int i = 0; i < 10'000 && asleep.stats().io_threads == 0; ++i) ASSERT_TRUE(asleep.next());
  EXPECT_GT(asleep.stats().io_threads, 0);
}

TEST(MnistLoader, TellsInEachEpochWhatIsInStore) {
  const MnistData data = numbered(200);
  MnistLoader loader(data, {.sleep = milliseconds(1)});
  EXPECT_EQ(loader.in_store(), 0);
  for (int taken = 0; taken < 20; ++taken) {
    ASSERT_TRUE(loader.next());
    if (taken != 1 && taken != 13) continue;  // With four batches to come in the first epoch, and in the third.
    for (int i = 0; i < 10'000 && loader.in_store() == 0; ++i) std::this_thread::sleep_for(milliseconds(1));
    EXPECT_GT(loader.in_store(), 0) << taken;
    EXPECT_LE(loader.in_store(), 4 * 32) << taken;
    EXPECT_EQ(loader.in_store() % 32, 0) << taken;
  }
}

TEST(MnistLoader, StopEndsASleep) {
  const MnistData data = numbered(200);
  std::stop_source source;
  MnistLoader loader(data, {.sleep = std::chrono::hours(1)}, source.get_token());
  std::jthread stopper([&] {
    std::this_thread::sleep_for(milliseconds(50));
    source.request_stop();
  });
  EXPECT_EQ(loader.next().error().kind(), ErrorKind::Cancelled);
  EXPECT_EQ(loader.next().error().kind(), ErrorKind::Cancelled);
}

TEST(MnistLoader, BatchBeyondTheDataIsRefused) {
  const MnistData data = numbered(20);
  EXPECT_THROW(MnistLoader(data, {.batch = 21}), Exception);
  EXPECT_THROW(MnistLoader(data, {.batch = 0}), Exception);
  EXPECT_THROW(MnistLoader(data, {.sleep = milliseconds(-1), .batch = 8}), Exception);
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/device/device_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "headpond/base/random.h"
#include "headpond/base/trace.h"
#include "headpond/dataset/ops.h"
#include "headpond/train/device/fake_stream.h"

namespace headpond {
namespace {

using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kBatch = 8, kBatchBytes = kBatch * 8;

// "x" i64 [8] of numbers from 0 on, and their texts, which no device has.
Dataset numbers(int64_t batches) {
  return range(batches * kBatch) |
         map(
             [](const Element& e) -> Result<Element> {
               const int64_t x = e[0].item<int64_t>();
               return Element{Tensor::scalar(x), Tensor::scalar(std::to_string(x))};
             },
             {.output = Spec{{"x", i64, {}}, {"text", bytes, {}}}, .name = "numbers"}) |
         batch(kBatch, {.drop_remainder = true});
}

std::vector<int64_t> values_of(const DeviceTensor& tensor) {
  std::vector<int64_t> values(static_cast<size_t>(*tensor.shape.size()));
  std::memcpy(values.data(), tensor.data, values.size() * sizeof(int64_t));
  return values;
}
std::vector<int64_t> values_of(const Batch& batch) {
  const auto values = batch["x"].as<int64_t>();
  return {values.begin(), values.end()};
}

// A device that says at once that a copy is done: the feed then ends the lease too early.
struct HastyStream : FakeStream {
  using FakeStream::FakeStream;
  struct Hasty : DeviceCopy {
    explicit Hasty(std::unique_ptr<DeviceCopy> of) : copy(std::move(of)) {}
    bool is_done() override { return true; }
    Result<void> wait() override { return copy->wait(); }
    std::unique_ptr<DeviceCopy> copy;
  };
  Result<std::unique_ptr<DeviceCopy>> copy(std::span<const Part> parts) override {
    auto begun = FakeStream::copy(parts);
    if (!begun) return begun;
    return std::make_unique<Hasty>(std::move(*begun));
  }
  Result<void> before_program(DeviceCopy&) override { return {}; }  // As on a device: the program's thread goes on.
};
// The same device, whose copies say the truth.
struct LateStream : FakeStream {
  using FakeStream::FakeStream;
  Result<void> before_program(DeviceCopy&) override { return {}; }
};

// How many batches arrive damaged, when the program asks the device for each one's values long after it has it.
template <class Stream>
int damaged(int64_t batches) {
  Loader loader(numbers(batches), {.threads = 0});
  const auto stream = std::make_shared<Stream>(1e9);
  DeviceFeed feed(loader, {.depth = 2, .stream = stream});
  std::vector<DeviceBatch> all;
  while (auto batch = feed.next()) all.push_back(std::move(*batch));
  stream->compute(nanoseconds(batches * kBatchBytes));
  int wrong = 0;
  for (const DeviceBatch& batch : all) wrong += values_of(batch["x"])[0] != batch.index() * kBatch;
  EXPECT_EQ(std::ssize(all), batches);
  return wrong;
}

TEST(DeviceFeed, GivesTheBatchesOfTheLoader) {
  for (const int depth : {1, 2, 5}) {
    for (const int threads : {0, 2}) {
      const LoaderOptions options{.epochs = 2, .seed = 5, .threads = threads};
      Loader expected(numbers(7), options), loader(numbers(7), options);
      DeviceFeed feed(loader, {.depth = depth, .stream = std::make_shared<FakeStream>(1e9)});
      int count = 0;
      for (const DeviceBatch& batch : feed) {
        const auto wanted = expected.next();
        ASSERT_TRUE(wanted);
        EXPECT_EQ(values_of(batch["x"]), values_of(*wanted));
        EXPECT_EQ(batch.epoch(), wanted->epoch());
        EXPECT_EQ(batch.index(), wanted->index());
        EXPECT_EQ(feed.state(), expected.state());
        ++count;
      }
      EXPECT_EQ(count, 14);
      EXPECT_TRUE(at_end(expected.next()));
    }
  }
}

nanoseconds time_of(int depth, int64_t batches, nanoseconds step, double bytes_per_s) {
  Loader loader(numbers(batches), {.threads = 0});
  const auto stream = std::make_shared<FakeStream>(bytes_per_s);
  DeviceFeed feed(loader, {.depth = depth, .stream = stream});
  for ([[maybe_unused]] const DeviceBatch& batch : feed) stream->compute(step);
  return stream->now();
}

TEST(DeviceFeed, AStepTakesAsLongAsTheLongerOfStepAndCopy) {
  for (uint64_t i = 0; i < 60; ++i) {
    Random random(RandomKey{3}, i);
    const nanoseconds copy(kBatchBytes * static_cast<int64_t>(1 + random.below(50)));
    const nanoseconds step(static_cast<int64_t>(random.below(6000)));
    const auto batches = static_cast<int64_t>(1 + random.below(20));
    const int depth = 2 + static_cast<int>(random.below(3));
    const double rate = static_cast<double>(kBatchBytes) * 1e9 / static_cast<double>(copy.count());
    EXPECT_EQ(time_of(depth, batches, step, rate), copy + (batches - 1) * std::max(step, copy) + step)
        << "copy " << copy.count() << " step " << step.count() << " batches " << batches << " depth " << depth;
    EXPECT_EQ(time_of(1, batches, step, rate), batches * (copy + step)) << "control: nothing overlaps";
  }
}

TEST(DeviceFeed, ALeaseEndsWithItsCopyAndNotBefore) {
  EXPECT_EQ(damaged<LateStream>(50), 0);
  EXPECT_GE(damaged<HastyStream>(50), 25) << "control: the device reads buffers that the Loader used again";

  Loader loader(numbers(3), {.threads = 0, .memory = 1 << 20});
  const auto stream = std::make_shared<FakeStream>(1e9);
  DeviceFeed feed(loader, {.depth = 2, .stream = stream});
  std::vector<DeviceBatch> all;
  while (auto batch = feed.next()) all.push_back(std::move(*batch));
  EXPECT_EQ(loader.stats().memory_in_use, 0) << "while the program still has the device's batches";
  EXPECT_GE(stream->memory_in_use(), 3 * kBatchBytes);
}

TEST(DeviceFeed, MemoryOfTheDeviceIsUsedAgain) {
  Loader loader(numbers(100), {.threads = 0});
  const auto stream = std::make_shared<FakeStream>(1e9);
  {
    DeviceFeed feed(loader, {.depth = 3, .stream = stream});
    for ([[maybe_unused]] const DeviceBatch& batch : feed) stream->compute(nanoseconds(10));
  }
  EXPECT_LE(stream->allocations(), 3);
  EXPECT_EQ(stream->memory_in_use(), 0);
}

TEST(DeviceFeed, ErrorsComeAfterTheBatchesBeforeThemAndTheRunGoesOn) {
  for (const ErrorKind kind : {ErrorKind::DataLoss, ErrorKind::DeadlineExceeded, ErrorKind::OutOfRange}) {
    const auto third_fails = [kind](int64_t x) -> Result<int64_t> {
      if (x == 2 * kBatch) return fail(kind, "the third");
      return x;
    };
    Loader loader(range(5 * kBatch) | map(third_fails) | batch(kBatch, {.drop_remainder = true}));
    DeviceFeed feed(loader, {.depth = 4, .stream = std::make_shared<FakeStream>(1e9)});
    std::vector<int64_t> firsts;
    std::string error;
    while (true) {
      auto batch = feed.next();
      if (at_end(batch)) break;
      batch ? firsts.push_back(values_of((*batch)[0])[0]) : (void)(error += batch.error().to_string());
      if (!batch) {
        EXPECT_EQ(firsts.size(), 2U);
      }
    }
    EXPECT_THAT(error, HasSubstr("the third"));
    EXPECT_THAT(firsts, ElementsAre(0, kBatch, 2 * kBatch + 1, 3 * kBatch + 1));
  }
}

TEST(DeviceFeed, ABatchThatTheDeviceHasNoMemoryForIsTriedAgain) {
  Loader loader(numbers(4), {.threads = 0});
  const auto stream = std::make_shared<FakeStream>(1e9, 256);  // Of one batch.
  DeviceFeed feed(loader, {.depth = 2, .stream = stream});
  std::optional<DeviceBatch> held;
  for (int64_t i = 0; i < 4; ++i) {
    if (held) {
      const auto refused = feed.next();
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().kind(), ErrorKind::ResourceExhausted);
    }
    held.reset();
    held = feed.next().value();
    EXPECT_EQ(held->index(), i) << "none is lost";
    EXPECT_EQ(values_of((*held)["x"])[0], i * kBatch);
  }
}

TEST(DeviceFeed, AfterTheEndTheLoaderMayBeginAgain) {
  Loader loader(numbers(2));
  DeviceFeed feed(loader, {.stream = std::make_shared<FakeStream>(1e9)});
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(feed.next().value().index(), 0);
    EXPECT_EQ(feed.next().value().index(), 1);
    EXPECT_TRUE(at_end(feed.next()));
    EXPECT_TRUE(at_end(feed.next()));
    loader.rewind();
  }
}

TEST(DeviceFeed, ItsEndWaitsForCopiesAndLeavesTheProgramsBatches) {
  const auto stream = std::make_shared<LateStream>(1e6);
  Loader loader(numbers(40), {.threads = 2});
  std::optional<DeviceBatch> survivor;
  {
    DeviceFeed feed(loader, {.depth = 4, .stream = stream});
    survivor = feed.next().value();
  }
  EXPECT_EQ(values_of((*survivor)["x"])[1], 1);
  EXPECT_GE(stream->bytes_copied(), kBatchBytes);
  survivor.reset();
  EXPECT_EQ(stream->memory_in_use(), 0);
}

TEST(DeviceFeed, AfterAStopItsStateGoesOnWithTheNextBatch) {
  Loader loader(numbers(20), {.threads = 2});
  DeviceFeed feed(loader, {.depth = 3, .stream = std::make_shared<FakeStream>(1e9)});
  const std::string start = feed.state();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(feed.next());
  feed.close();
  feed.close();
  EXPECT_EQ(feed.next().error().kind(), ErrorKind::Cancelled);
  Loader goes_on = Loader::restored(numbers(20), {}, feed.state()).value();
  EXPECT_EQ(goes_on.next().value().index(), 5);
  EXPECT_EQ(Loader::restored(numbers(20), {}, start).value().next().value().index(), 0) << "control";

  Loader closed(numbers(20), {.threads = 0});
  DeviceFeed last(closed, {.depth = 3, .stream = std::make_shared<FakeStream>(1e9)});
  EXPECT_TRUE(last.next());
  closed.close();
  EXPECT_EQ(last.next().value().index(), 1) << "it was taken before";
  EXPECT_EQ(last.next().value().index(), 2);
  EXPECT_EQ(last.next().error().kind(), ErrorKind::Cancelled);
}

TEST(DeviceFeed, WritesAStateDownOnlyWhenItIsAsked) {
  Loader loader(numbers(20), {.threads = 0});
  trace::start();
  std::vector<int64_t> checkpoints;
  {
    DeviceFeed feed(loader, {.depth = 3, .stream = std::make_shared<FakeStream>(1e9)});
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(feed.next());
    (void)feed.state();
  }
  trace::stop();
  for (const trace::ThreadEvents& thread : trace::collect()) {
    for (const trace::Event& event : thread.events) {
      if (std::string_view(event.name) == "checkpoint") checkpoints.push_back(event.args.values[1]);
    }
  }
  EXPECT_THAT(checkpoints, ElementsAre(5)) << "not one a batch";
}

TEST(DeviceFeed, AnElementThatTimedOutIsAnErrorInItsPlace) {
  const auto late = [](int64_t x) -> Result<int64_t> {
    if (x == 2) return fail(ErrorKind::DeadlineExceeded, "the server is silent");
    return x;
  };
  Loader loader(range(4) | map(late) | batch(1), {.threads = 0});
  DeviceFeed feed(loader, {.depth = 3, .stream = std::make_shared<FakeStream>(1e9)});
  EXPECT_TRUE(feed.next());
  EXPECT_TRUE(feed.next());
  EXPECT_EQ(feed.next().error().kind(), ErrorKind::DeadlineExceeded);
  EXPECT_TRUE(feed.next());
  EXPECT_TRUE(at_end(feed.next()));
}

TEST(DeviceFeed, AnyThreadMayDropATensor) {
  Loader loader(numbers(200), {.threads = 2});
  const auto stream = std::make_shared<FakeStream>(1e9);
  DeviceFeed feed(loader, {.depth = 3, .stream = stream});
  std::vector<std::jthread> others;
  int64_t sum = 0;
  for (const DeviceBatch& batch : feed) {
    if (others.size() > 3) others.erase(others.begin());
    others.emplace_back([tensor = batch["x"]]() mutable { tensor = {}; });
    sum += values_of(batch["x"])[0] / kBatch;
  }
  EXPECT_EQ(sum, 199 * 200 / 2);
}

TEST(DeviceFeed, RefusesWhatCannotBe) {
  Loader loader(numbers(2));
  const auto stream = std::make_shared<FakeStream>(1e9);
  EXPECT_THROW(DeviceFeed(loader, {.depth = 0, .stream = stream}), Exception);
  DeviceFeed feed(loader, {.stream = stream});
  const DeviceBatch batch = feed.next().value();
  EXPECT_THAT(batch.names(), ElementsAre("x", "text"));
  const auto refused = [&](const auto& field) {
    try {
      (void)batch[field];
    } catch (const Exception& e) {
      return e.error();
    }
    return Error();
  };
  EXPECT_THAT(refused(std::string_view("y")).to_string(), HasSubstr("no field \"y\"; there are x, text"));
  EXPECT_EQ(refused(size_t{2}).kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(refused(std::string_view("text")).kind(), ErrorKind::Unimplemented);
  EXPECT_EQ(batch["x"].shape, Shape({kBatch}));
}

}  // namespace
}  // namespace headpond

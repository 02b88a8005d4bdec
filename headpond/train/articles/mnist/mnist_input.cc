// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/mnist/mnist_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "headpond/base/cpu.h"
#include "headpond/base/random.h"
#include "headpond/base/trace.h"
#include "headpond/queue/runner/queue_runner.h"

namespace headpond {
namespace {

constexpr int64_t kReadyBatches = 8;
constexpr std::chrono::microseconds kNap{500};

QueueOptions queue_options(const MnistInputOptions& options) {
  return {.capacity = options.capacity, .dtypes = {DType::f32, DType::i64}, .shapes = {{28, 28}, {}}, .name = "mnist"};
}

QueueOptions batches_options() {
  return {.capacity = kReadyBatches, .dtypes = {DType::f32, DType::i64}, .name = "mnist_batches"};
}

// Calls `make` on the CPUs of `options`.
template <class Make>
QueueRunner::Producer pinned(const MnistInputOptions& options, Make make) {
  return [cpus = options.cpus, is_pinned = options.cpus.empty(),
          make = std::move(make)](const std::stop_token& stop) mutable -> Result<void> {
    if (!std::exchange(is_pinned, true)) (void)pin_this_thread(cpus);
    return make(stop);
  };
}

void refuse_wrong(const MnistData& data, const MnistInputOptions& options) {
  if (options.producers < 1) {
    throw Exception(
        Error(ErrorKind::InvalidArgument, fmt::format("producers must be at least 1, got {}", options.producers)));
  }
  if (options.batch < 1) {
    throw Exception(
        Error(ErrorKind::InvalidArgument, fmt::format("a batch must have at least 1 row, got {}", options.batch)));
  }
  if (options.window < 1 || options.window > data.train_images.dim(0)) {
    throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("a window must have 1 to {} images, got {}",
                                                                  data.train_images.dim(0), options.window)));
  }
  if (options.sleep.count() < 0) {
    throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("cannot sleep for {} ms", options.sleep.count())));
  }
}

}  // namespace

Element mnist_window(const MnistData& data, int64_t start, int64_t window, BufferPool& pool) {
  const int64_t height = data.train_images.dim(1), width = data.train_images.dim(2);
  const auto first = static_cast<size_t>(start), count = static_cast<size_t>(window);
  const auto pixels = static_cast<size_t>(height * width);
  Tensor images = Tensor::empty(DType::f32, {window, height, width}, pool);
  Tensor labels = Tensor::empty(DType::i64, {window}, pool);
  const auto from = data.train_images.as<uint8_t>().subspan(first * pixels, count * pixels);
  const auto to = images.mutable_as<float>();
  for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<float>(from[i]) / 255.0F;
  const auto classes = data.train_labels.as<uint8_t>().subspan(first, count);
  const auto label = labels.mutable_as<int64_t>();
  for (size_t i = 0; i < count; ++i) label[i] = classes[i];
  return {std::move(images), std::move(labels)};
}

MnistInput::MnistInput(const MnistData& data, const MnistInputOptions& options)
    : data_(data),
      batch_(options.batch),
      queue_(queue_options(options), options.min_after_dequeue, options.seed),
      batches_(batches_options()) {
  refuse_wrong(data, options);
  start_producers(options);
  start_batcher(options);
}

int64_t MnistInput::in_store() const {
  const QueueStats stats = queue_.stats();
  return std::max<int64_t>(stats.size - stats.min_after_dequeue, 0) + batches_.size() * batch_;
}

void MnistInput::start_producers(const MnistInputOptions& options) {
  const auto places = static_cast<uint64_t>(data_.train_images.dim(0) - options.window + 1);
  const auto sleep = options.sleep;
  std::vector<QueueRunner::Producer> producers;
  for (int i = 0; i < options.producers; ++i) {
    Random random(random_key(options.seed, "mnist.window", static_cast<uint32_t>(i), 0));
    const auto make = [this, places, sleep, window = options.window,
                       random](const std::stop_token& stop) mutable -> Result<void> {
      const trace::Span span("window", trace::Category::op);
      Element rows = mnist_window(data_, static_cast<int64_t>(random.below(places)), window);
      if (sleep.count() > 0) {
        const trace::Span asleep("sleep", trace::Category::io);
        if (coordinator_.wait_for_stop(sleep)) return fail(ErrorKind::Cancelled, "a stop was requested");
      }
      return queue_.enqueue_many(std::move(rows), {.stop = stop});
    };
    producers.push_back(pinned(options, make));
  }
  QueueRunner(queue_, std::move(producers)).start(coordinator_);
}

// Refills when half of the ready batches are gone, and polls for that. If it waited for room, each training step would
// have to wake it, which costs the trainer more than all its other queue calls.
void MnistInput::start_batcher(const MnistInputOptions& options) {
  const auto make = [this, batch = options.batch, filling = true](const std::stop_token& stop) mutable -> Result<void> {
    const int64_t ready = batches_.size();
    filling = ready < (filling ? kReadyBatches : kReadyBatches / 2);
    if (!filling) {
      (void)coordinator_.wait_for_stop(kNap);
      return {};
    }
    const trace::Span span("batch", trace::Category::op);
    auto rows = queue_.dequeue_many(batch, {.stop = stop});
    if (rows) return batches_.enqueue(std::move(*rows), {.stop = stop});
    return fail(rows.error().cause() != nullptr ? *rows.error().cause() : rows.error());
  };
  QueueRunner(batches_, {pinned(options, make)}).start(coordinator_);
}

}  // namespace headpond

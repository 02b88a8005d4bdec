// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/mnist_input.h"

#include <fmt/core.h>

#include <span>
#include <utility>

#include "headpond/base/cpu.h"
#include "headpond/base/random.h"
#include "headpond/base/trace.h"
#include "headpond/queue/queue_runner.h"

namespace headpond {
namespace {

QueueOptions queue_options(const MnistInputOptions& options) {
  return {.capacity = options.capacity, .dtypes = {DType::f32, DType::i64}, .shapes = {{28, 28}, {}}, .name = "mnist"};
}

void refuse_wrong(const MnistData& data, const MnistInputOptions& options) {
  if (options.producers < 1) {
    throw Exception(ErrorKind::InvalidArgument, fmt::format("producers must be at least 1, got {}", options.producers));
  }
  if (options.window < 1 || options.window > data.train_images.dim(0)) {
    throw Exception(ErrorKind::InvalidArgument,
                    fmt::format("a window must have 1 to {} images, got {}", data.train_images.dim(0), options.window));
  }
  if (options.sleep.count() < 0) {
    throw Exception(ErrorKind::InvalidArgument, fmt::format("cannot sleep for {} ms", options.sleep.count()));
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
    : data_(data), queue_(queue_options(options), options.min_after_dequeue, options.seed) {
  refuse_wrong(data, options);
  const auto places = static_cast<uint64_t>(data.train_images.dim(0) - options.window + 1);
  std::vector<QueueRunner::Producer> producers;
  for (int i = 0; i < options.producers; ++i) {
    const RandomKey key = random_key(options.seed, "mnist.window", static_cast<uint32_t>(i), 0);
    producers.emplace_back([this, options, places, random = Random(key),
                            pinned = options.cpus.empty()](const std::stop_token& stop) mutable -> Result<void> {
      if (!std::exchange(pinned, true)) (void)pin_this_thread(options.cpus);
      const trace::Span span("window", trace::Category::op);
      Element rows = mnist_window(data_, static_cast<int64_t>(random.below(places)), options.window);
      if (options.sleep.count() > 0) {
        const trace::Span asleep("sleep", trace::Category::io);
        if (coordinator_.wait_for_stop(options.sleep)) return fail(ErrorKind::Cancelled, "a stop was requested");
      }
      return queue_.enqueue_many(std::move(rows), {.stop = stop});
    });
  }
  QueueRunner(queue_, std::move(producers)).start(coordinator_);
}

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// Digits from slow storage: 50 ms a batch. They come through a RandomShuffleQueue, which one thread fills, then four.
//   22_train_digits [FOLDER]    where train-images-idx3-ubyte.gz and train-labels-idx1-ubyte.gz are; default: drawn
//   ones
#include <headpond/headpond.h>
#include <headpond/torch.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "headpond/train/articles/digits/draw_digit.h"

namespace hp = headpond;
namespace nn = torch::nn;
using namespace std::chrono_literals;

constexpr int64_t kBatch = 32, kSteps = 20;

// "image" u8 [32, 28, 28] and "label" u8 [32].
hp::Dataset batches(const std::string& folder) {
  const auto draw = [](int64_t i) {
    const hp::Digit digit = hp::draw_digit(static_cast<uint64_t>(i));
    return hp::Element{hp::Tensor::from(std::span<const uint8_t>(digit.pixels), {28, 28}),
                       hp::Tensor::scalar(digit.label)};
  };
  const hp::Spec spec = {{"image", hp::u8, {28, 28}}, {"label", hp::u8, {}}};
  return (folder.empty() ? hp::range(4000) | hp::map(draw, {.output = spec, .name = "draw"})
                         : hp::idx(folder + "/train-images-idx3-ubyte.gz", folder + "/train-labels-idx1-ubyte.gz")) |
         hp::batch(kBatch);
}

void train(const hp::Dataset& data, int producers) {
  torch::manual_seed(7);
  nn::Sequential net(nn::Flatten(), nn::Linear(28 * 28, 64), nn::ReLU(), nn::Linear(64, 10));
  torch::optim::Adam adam(net->parameters(), 1e-3);
  hp::RandomShuffleQueue queue(
      {.capacity = 2000, .dtypes = {hp::u8, hp::u8}, .shapes = {{28, 28}, {}}, .names = {"image", "label"}},
      /*min_after_dequeue=*/4 * kBatch, /*seed=*/7);
  std::vector<hp::QueueRunner::Producer> all;
  for (int i = 0; i < producers; ++i) {
    const auto own = std::make_shared<hp::Sequence>(data | hp::repeat() | hp::skip(30 * i));
    all.push_back([&queue, own](std::stop_token stop) -> hp::Result<void> {
      std::this_thread::sleep_for(50ms);  // Slow storage.
      const auto batch = own->next();
      if (!batch) return hp::fail(batch.error());
      return queue.enqueue_many(*batch, {.stop = stop});
    });
  }
  hp::Coordinator coordinator;
  hp::QueueRunner(queue, all).start(coordinator);
  std::chrono::steady_clock::time_point begin;
  double loss = 0;
  for (int64_t step = 0; step <= kSteps; ++step) {
    if (step == 1) begin = std::chrono::steady_clock::now();  // The queue has its fill.
    const auto batch = hp::value_or_throw(hp::as_torch(hp::value_or_throw(queue.dequeue_many(kBatch))));
    const torch::Tensor error =
        nn::functional::cross_entropy(net->forward(batch[0].to(torch::kF32) / 255), batch[1].to(torch::kI64));
    adam.zero_grad();
    error.backward();
    adam.step();
    loss = error.item<double>();
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  std::printf("producers: %d; steps a second: %.1f; loss %.2f\n", producers, kSteps / time.count(), loss);
}

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "";
  const hp::Dataset data = batches(folder);
  torch::set_num_threads(1);
  for (const int producers : {1, 4}) train(data, producers);
}

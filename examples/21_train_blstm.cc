// SPDX-License-Identifier: Apache-2.0
// A bidirectional LSTM, fed by hand, and through a queue that a thread fills. The losses are equal; the queue's steps
// are shorter where a processor is free for that thread.
//   21_train_blstm [STEPS]
#include <headpond/headpond.h>
#include <headpond/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace hp = headpond;
namespace nn = torch::nn;

constexpr int64_t kTime = 64, kBatch = 32, kFeatures = 128, kHidden = 64;

// Two classes of sequences: normal values whose mean is 0 or 0.1. A function of the step alone.
hp::Element generate(int64_t step) {
  hp::Tensor x = hp::Tensor::empty(hp::f32, {kTime, kBatch, kFeatures}), y = hp::Tensor::empty(hp::f32, {kBatch});
  const auto values = x.mutable_as<float>(), labels = y.mutable_as<float>();
  hp::fill_normal(values, hp::RandomKey{7}, static_cast<uint64_t>(step));
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<float>(i % 2);
  for (size_t i = 0; i < values.size(); ++i) values[i] += 0.1F * labels[i / kFeatures % labels.size()];
  return {x, y};
}

struct Net : nn::Module {
  nn::LSTM lstm = register_module("lstm", nn::LSTM(nn::LSTMOptions(kFeatures, kHidden).bidirectional(true)));
  nn::Linear out = register_module("out", nn::Linear(2 * kHidden, 1));
  torch::Tensor forward(const torch::Tensor& x) { return out(std::get<0>(lstm(x)).mean(0)).squeeze(1); }
};

struct Run {
  std::vector<double> losses;
  double ms_a_step = 0;
};

template <class Next>
Run train(int64_t steps, Next next) {
  torch::manual_seed(7);
  Net net;
  torch::optim::Adam adam(net.parameters(), 1e-2);
  Run run;
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t step = 0; step < steps; ++step) {
    const auto batch = hp::value_or_throw(hp::as_torch(next(step)));
    const torch::Tensor loss = nn::functional::binary_cross_entropy_with_logits(net.forward(batch[0]), batch[1]);
    adam.zero_grad();
    loss.backward();
    adam.step();
    run.losses.push_back(loss.item<double>());
  }
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  run.ms_a_step = time.count() / static_cast<double>(steps);
  return run;
}

int main(int argc, char** argv) {
  const int64_t steps = argc > 1 ? std::max(1, std::stoi(argv[1])) : 50;
  torch::set_num_threads(1);
  const Run by_hand = train(steps, generate);

  hp::FIFOQueue queue(
      {.capacity = 4, .dtypes = {hp::f32, hp::f32}, .shapes = {{kTime, kBatch, kFeatures}, {kBatch}}, .name = "blstm"});
  int64_t made = 0;
  const auto produce = [&](std::stop_token stop) { return queue.enqueue(generate(made++), {.stop = stop}); };
  hp::Coordinator coordinator;  // Its destructor stops and joins the producer.
  hp::QueueRunner(queue, {produce}).start(coordinator);
  const Run queued = train(steps, [&](int64_t) { return hp::value_or_throw(queue.dequeue()); });

  const bool equal = queued.losses == by_hand.losses;
  std::printf("by hand %.1f ms a step, through a queue %.1f ms; loss %.3f to %.3f, %s\n", by_hand.ms_a_step,
              queued.ms_a_step, queued.losses.front(), queued.losses.back(), equal ? "equal" : "NOT EQUAL");
  return equal ? 0 : 1;
}

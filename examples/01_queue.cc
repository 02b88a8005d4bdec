// SPDX-License-Identifier: Apache-2.0
// A queue keeps a training step fed. The same work is done twice: prepared and trained in turn, then with two producer
// threads and a RandomShuffleQueue. A stopwatch around the call for a batch checks the library's wait account. With
// --json the figures are one JSON object.
#include <headpond/headpond.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>
#include <thread>
#include <vector>

namespace hp = headpond;
using namespace std::chrono_literals;

namespace {

constexpr int kSteps = 40;
constexpr int64_t kBatch = 8;

// Stands for slow storage: 10 ms for a window of eight images of one digit.
hp::Element read_window(std::mt19937& random) {
  std::this_thread::sleep_for(10ms);
  const auto digit = static_cast<int64_t>(random() % 10);
  hp::Tensor images = hp::Tensor::empty(hp::f32, {kBatch, 28, 28});
  for (float& pixel : images.mutable_as<float>()) pixel = static_cast<float>(digit) / 10.0F;
  return hp::Element{
      {images, hp::Tensor::from(std::span<const int64_t>(std::vector<int64_t>(kBatch, digit)), {kBatch})}};
}

// Stands for the device: 6 ms a batch. Returns true iff each label belongs to its image.
bool train_step(const hp::Element& batch) {
  std::this_thread::sleep_for(6ms);
  const auto images = batch[0].as<float>();
  const auto labels = batch[1].as<int64_t>();
  bool right = true;
  for (size_t i = 0; i < labels.size(); ++i) right &= images[i * 784] == static_cast<float>(labels[i]) / 10.0F;
  return right;
}

struct Figures {
  double seconds = 0, wait_share = 0, stopwatch_share = 0;
  bool right = true;
};

template <class Next>
Figures train(Next next) {
  hp::WaitAccount account;
  Figures figures;
  int64_t stopwatch = 0;
  const int64_t start = hp::now_ns();
  for (int step = 0; step < kSteps; ++step) {
    const int64_t call = hp::now_ns();
    const hp::Element batch = account.measure(next);
    stopwatch += hp::now_ns() - call;
    figures.right &= train_step(batch);
  }
  account.pause();
  const auto total = static_cast<double>(hp::now_ns() - start);
  figures.seconds = total / 1e9;
  figures.wait_share = account.summary().wait_share;
  figures.stopwatch_share = static_cast<double>(stopwatch) / total;
  return figures;
}

Figures train_in_turn() {
  std::mt19937 random(7);
  return train([&] { return read_window(random); });
}

Figures train_from_queue() {
  hp::RandomShuffleQueue queue({.capacity = 200, .dtypes = {hp::f32, hp::i64}, .shapes = {{28, 28}, {}}},
                               /*min_after_dequeue=*/8 * kBatch, /*seed=*/7);
  const auto producer = [&queue](unsigned seed) {
    return [queue, random = std::mt19937(seed)](std::stop_token stop) mutable {
      return queue.enqueue_many(read_window(random), {.stop = stop});
    };
  };
  hp::Coordinator coordinator;  // Owns the threads; its destructor stops and joins them.
  hp::QueueRunner(queue, {producer(1), producer(2)}).start(coordinator);
  return train([&] {
    hp::Result<hp::Element> batch = queue.dequeue_many(kBatch);
    if (!batch) throw hp::Exception(batch.error());  // The producer's own error, if one failed.
    return std::move(*batch);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const Figures turn = train_in_turn();
  const Figures queue = train_from_queue();
  const bool agree = std::abs(queue.wait_share - queue.stopwatch_share) < 0.01;
  if (argc > 1 && std::strcmp(argv[1], "--json") == 0) {
    std::printf("{\"in_turn_s\":%.3f,\"queue_s\":%.3f,\"wait_share\":%.4f,\"stopwatch_wait_share\":%.4f}\n",
                turn.seconds, queue.seconds, queue.wait_share, queue.stopwatch_share);
  } else {
    std::printf("in turn     %.2f s, of which %.0f %% waiting for data\n", turn.seconds, 100 * turn.wait_share);
    std::printf("from queue  %.2f s, of which %.0f %% (by a stopwatch %.0f %%), filling the queue included\n",
                queue.seconds, 100 * queue.wait_share, 100 * queue.stopwatch_share);
  }
  return turn.right && queue.right && agree ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// The input of the digit network: producer threads that take windows of the training set, a queue that mixes them, and
// a thread that stacks batches.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/queue/queue.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/tensor/element.h"
#include "headpond/train/articles/mnist/mnist_data.h"

namespace headpond {

struct MnistInputOptions {
  int producers = 4;
  std::chrono::milliseconds sleep{50};  ///< Sleep of a producer before each enqueue; stands for slow storage.
  int64_t window = 32;                  ///< Adjacent images that a producer takes at once.
  int64_t batch = 32;                   ///< Rows in a batch.
  int64_t capacity = 2000;
  int64_t min_after_dequeue = 1000;
  uint64_t seed = 7;
  std::vector<int> cpus = {};  ///< CPUs of the producers; empty: all.
};

/// A window as one element of `window` rows: f32 [window, 28, 28] in 0..1, i64 [window]. REQUIRES: start + window
/// images.
Element mnist_window(const MnistData& data, int64_t start, int64_t window, BufferPool& pool = BufferPool::shared());

/// Owns the queue and the threads, which run until it is destroyed. A producer takes a window at a random position,
/// sleeps, and enqueues its rows. The seed determines each producer's windows; the order among producers depends on the
/// threads.
///
/// Stacking rows that other CPUs wrote, and waking producers that wait for room, would cost the trainer 2 % of its
/// step. So a batcher thread does both on the producers' CPUs and keeps a few batches ready.
class MnistInput {
 public:
  /// `data` must outlive this. Throws Exception(InvalidArgument) for options that contradict each other or the data.
  MnistInput(const MnistData& data, const MnistInputOptions& options);
  MnistInput(const MnistInput&) = delete;
  MnistInput& operator=(const MnistInput&) = delete;

  /// A batch: f32 [batch, 28, 28], i64 [batch].
  Result<Element> next(const std::stop_token& stop) { return batches_.dequeue({.stop = stop}); }
  const RandomShuffleQueue& queue() const { return queue_; }
  /// Images that the trainer would still get if the producers stopped now: those above the minimum and in ready
  /// batches.
  int64_t in_store() const;

 private:
  void start_producers(const MnistInputOptions& options);
  void start_batcher(const MnistInputOptions& options);

  const MnistData& data_;
  const int64_t batch_;
  RandomShuffleQueue queue_;
  FIFOQueue batches_;
  Coordinator coordinator_;  // Last: its threads use the members above.
};

}  // namespace headpond

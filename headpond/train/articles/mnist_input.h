// SPDX-License-Identifier: Apache-2.0
// The input of the digit network: producer threads that cut windows out of the training set, a queue that mixes them,
// and a thread that stacks what comes out of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/queue/queue.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/tensor/element.h"
#include "headpond/train/articles/mnist_data.h"

namespace headpond {

struct MnistInputOptions {
  int producers = 4;
  std::chrono::milliseconds sleep{50};  ///< Of a producer before each enqueue: stands for slow storage.
  int64_t window = 32;                  ///< Neighbours that a producer takes at once.
  int64_t batch = 32;                   ///< Rows that the trainer gets at once.
  int64_t capacity = 2000;
  int64_t min_after_dequeue = 1000;
  uint64_t seed = 7;
  std::vector<int> cpus = {};  ///< Where producers run; empty: anywhere.
};

/// A window as one element of `window` rows: f32 [window, 28, 28] in 0..1, i64 [window]. REQUIRES: start + window
/// images.
Element mnist_window(const MnistData& data, int64_t start, int64_t window, BufferPool& pool = BufferPool::shared());

/// Owns the queue and the threads, which run until it is destroyed. A producer takes a window at a random place,
/// sleeps, and enqueues its rows. Windows of a producer follow from the seed; their order among producers from the
/// threads.
///
/// Stacking rows that other CPUs have written, and waking the producers that wait for their place, would cost the
/// trainer 2 % of its step. So a batcher does both on the producers' CPUs, and keeps a few batches ready beside the
/// queue.
class MnistInput {
 public:
  /// `data` outlives this. Throws Exception(InvalidArgument) for options that contradict each other or the data.
  MnistInput(const MnistData& data, const MnistInputOptions& options);
  MnistInput(const MnistInput&) = delete;
  MnistInput& operator=(const MnistInput&) = delete;

  /// A batch: f32 [batch, 28, 28], i64 [batch].
  Result<Element> next(const std::stop_token& stop) { return batches_.dequeue({.stop = stop}); }
  const RandomShuffleQueue& queue() const { return queue_; }
  /// Images that the trainer would still get if the producers stopped now: above the minimum, and in ready batches.
  int64_t in_store() const;

 private:
  void start_producers(const MnistInputOptions& options);
  void start_batcher(const MnistInputOptions& options);

  const MnistData& data_;
  const int64_t batch_;
  RandomShuffleQueue queue_;
  FIFOQueue batches_;
  Coordinator coordinator_;  // Last: its threads end before anything that they use.
};

}  // namespace headpond

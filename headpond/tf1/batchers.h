// SPDX-License-Identifier: Apache-2.0
// The batchers of TensorFlow 1: producer threads put examples into a queue, consumers take batches out of it. In
// TensorFlow they were nodes of a graph; here each is a small object, and start() makes its threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headpond/queue/queue.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/queue/runner/queue_runner.h"
#include "headpond/tf1/source.h"

namespace headpond::tf1 {

struct BatchOptions {
  int64_t batch_size;                      ///< At least 1.
  std::vector<DType> dtypes;               ///< One for each component of an example.
  std::vector<Shape> shapes;               ///< One for each component of an example, without a dimension of rows.
  std::vector<std::string> names = {};     ///< One for each component of an example, if they have names.
  int64_t num_threads = 1;                 ///< Threads that call the source, at most 1,024; a join has one a source.
  int64_t capacity = 32;                   ///< Capacity of the queue, in examples.
  bool enqueue_many = false;               ///< The source returns several examples at a time, as rows.
  bool dynamic_pad = false;                ///< Dimensions may be kUnknown: a PaddingFIFOQueue, batches are padded.
  bool allow_smaller_final_batch = false;  ///< false: the last examples are dropped unless they fill a batch.
  std::string shared_name = "";            ///< See QueueOptions::shared_name.
  std::string name = "";                   ///< Name of the queue; "": batch or batch_join, numbered from the second on.
};

struct ShuffleBatchOptions {
  int64_t batch_size;
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  int64_t capacity;           ///< Greater than min_after_dequeue.
  int64_t min_after_dequeue;  ///< Examples that stay in the queue to mix with, until the sources end.
  std::vector<std::string> names = {};
  int64_t num_threads = 1;
  uint64_t seed = 0;  ///< Seed of the RandomShuffleQueue.
  bool enqueue_many = false;
  bool allow_smaller_final_batch = false;
  std::string shared_name = "";
  std::string name = "";  ///< "": shuffle_batch or shuffle_batch_join, numbered.
};

/// Returns whether to keep an example: a scalar of dtype boolean; with enqueue_many, also one boolean for each row.
/// OutOfRange ends the source's data before that example; any other error is a failure.
using KeepInput = std::function<Result<Tensor>(const Element& example)>;

/// A queue and the runner that fills it from sources. After the end of all sources the queue is closed. If a source's
/// OutOfRange has a cause, such as that of a queue whose producer failed, the end of the batches has it too. With one
/// thread, batches keep the order. A handle: copies are the same batcher. Thread-safe.
class Batcher {
 public:
  /// Throws Exception(InvalidArgument) for a batch_size below 1.
  Batcher(Queue queue, QueueRunner runner, int64_t batch_size, bool allow_smaller_final_batch);

  const Queue& queue() const { return queue_; }
  QueueRunner& runner() { return runner_; }
  /// See QueueRunner::start.
  void start(Coordinator& coordinator) { runner_.start(coordinator); }
  /// The next batch_size examples, stacked: Queue::dequeue_many, or dequeue_up_to where a smaller last batch is
  /// allowed.
  Result<Element> dequeue(Wait wait = {}) const;

 private:
  Queue queue_;
  QueueRunner runner_;
  int64_t batch_size_;
  bool allow_smaller_final_batch_;
};

/// All throw Exception(InvalidArgument), with the numbers, for options that contradict each other. num_threads threads
/// call the source and keep_input at the same time; in a join each source has its own thread, and num_threads is 1.

Batcher batch(Source source, const BatchOptions& options);
Batcher batch_join(std::vector<Source> sources, const BatchOptions& options);
Batcher shuffle_batch(Source source, const ShuffleBatchOptions& options);
Batcher shuffle_batch_join(std::vector<Source> sources, const ShuffleBatchOptions& options);

/// The same, with the examples that `keep_input` keeps.
Batcher maybe_batch(Source source, KeepInput keep_input, const BatchOptions& options);
Batcher maybe_batch_join(std::vector<Source> sources, KeepInput keep_input, const BatchOptions& options);
Batcher maybe_shuffle_batch(Source source, KeepInput keep_input, const ShuffleBatchOptions& options);
Batcher maybe_shuffle_batch_join(std::vector<Source> sources, KeepInput keep_input, const ShuffleBatchOptions& options);

}  // namespace headpond::tf1

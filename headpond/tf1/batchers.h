// SPDX-License-Identifier: Apache-2.0
// The batchers of TensorFlow 1: threads that put examples into a queue, and batches that are taken out of it. There
// they were nodes of a graph; here each is a small object, whose threads start() makes.
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
  std::vector<DType> dtypes;               ///< Of an example's components.
  std::vector<Shape> shapes;               ///< Likewise, without a dimension of rows.
  std::vector<std::string> names = {};     ///< Of its components, if they have some.
  int64_t num_threads = 1;                 ///< Up to 1,024 that call the source; a join has one for each source.
  int64_t capacity = 32;                   ///< Of the queue, in examples.
  bool enqueue_many = false;               ///< The source gives examples as rows, any number at a time.
  bool dynamic_pad = false;                ///< Dimensions may be kUnknown: a PaddingFIFOQueue, batches are padded.
  bool allow_smaller_final_batch = false;  ///< Else the last examples are dropped unless they fill a batch.
  std::string shared_name = "";            ///< As QueueOptions::shared_name.
  std::string name = "";                   ///< Of the queue; "": batch or batch_join, numbered from the second on.
};

struct ShuffleBatchOptions {
  int64_t batch_size;
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  int64_t capacity;           ///< Above min_after_dequeue.
  int64_t min_after_dequeue;  ///< So many examples stay to be mixed with, as long as more come.
  std::vector<std::string> names = {};
  int64_t num_threads = 1;
  uint64_t seed = 0;  ///< Of the RandomShuffleQueue.
  bool enqueue_many = false;
  bool allow_smaller_final_batch = false;
  std::string shared_name = "";
  std::string name = "";  ///< "": shuffle_batch or shuffle_batch_join, numbered.
};

/// Whether to keep an example: a scalar of dtype boolean; with enqueue_many, also one boolean for each row.
/// Its OutOfRange is the end of the source's data, without that example; any other error is a failure.
using KeepInput = std::function<Result<Tensor>(const Element& example)>;

/// A queue and the runner that fills it from sources. When all sources ended, the queue is closed; a source's
/// OutOfRange with a cause, as that of a queue whose producer failed, is handed on: the batches' end has that cause
/// too. With one thread a batch keeps the order. A handle: copies are the same batcher. Thread-safe.
class Batcher {
 public:
  /// Throws Exception(InvalidArgument) for a batch_size below 1.
  Batcher(Queue queue, QueueRunner runner, int64_t batch_size, bool allow_smaller_final_batch);

  const Queue& queue() const { return queue_; }
  QueueRunner& runner() { return runner_; }
  /// As QueueRunner::start.
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

/// All throw Exception(InvalidArgument) for options that make no sense, with the numbers. A source is called by all of
/// num_threads at the same time, as is keep_input; in a join each source has its own thread, and num_threads stays 1.

Batcher batch(Source source, const BatchOptions& options);
Batcher batch_join(std::vector<Source> sources, const BatchOptions& options);
Batcher shuffle_batch(Source source, const ShuffleBatchOptions& options);
Batcher shuffle_batch_join(std::vector<Source> sources, const ShuffleBatchOptions& options);

/// The same for what `keep_input` keeps.
Batcher maybe_batch(Source source, KeepInput keep_input, const BatchOptions& options);
Batcher maybe_batch_join(std::vector<Source> sources, KeepInput keep_input, const BatchOptions& options);
Batcher maybe_shuffle_batch(Source source, KeepInput keep_input, const ShuffleBatchOptions& options);
Batcher maybe_shuffle_batch_join(std::vector<Source> sources, KeepInput keep_input, const ShuffleBatchOptions& options);

}  // namespace headpond::tf1

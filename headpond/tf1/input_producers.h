// SPDX-License-Identifier: Apache-2.0
// The input producers of TensorFlow 1: a queue that a thread fills with the rows of a list, epoch after epoch. There
// they were nodes of a graph; here each is a small object, whose thread start() makes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headpond/queue/queue.h"
#include "headpond/queue/runner/coordinator.h"
#include "headpond/queue/runner/queue_runner.h"
#include "headpond/tf1/source.h"

namespace headpond::tf1 {

struct InputProducerOptions {
  std::optional<Shape> element_shape = {};       ///< Of a row, perhaps with kUnknown; another one is refused.
  std::optional<int64_t> num_epochs = {};        ///< How often all rows are put; {}: without end.
  bool shuffle = true;                           ///< A new order of the rows each epoch.
  uint64_t seed = 0;                             ///< The order of epoch e follows from (seed, e) alone.
  int64_t capacity = 32;                         ///< Of the queue, in rows.
  std::string shared_name = "";                  ///< As QueueOptions::shared_name.
  std::string summary_name = "";                 ///< The last part of the tag that monitor's charts have.
  std::string name = "";                         ///< Of the queue; "": input_producer, numbered from the second on.
  std::function<Result<void>()> cancel_op = {};  ///< As QueueRunnerOptions::cancel_op.
};

/// A FIFOQueue and the runner of one thread that fills it: with all rows of an epoch in one enqueue_many, then with the
/// next epoch's; after num_epochs the thread ends and closes the queue. A handle: copies are the same producer.
/// Thread-safe.
class InputProducer {
 public:
  /// From what the queue gives to what dequeue() gives. What it throws is an error like one that it returns.
  using Lookup = std::function<Result<Element>(const Element&)>;
  InputProducer(FIFOQueue queue, QueueRunner runner, std::string summary_name = "", Lookup lookup = {});

  const Queue& queue() const { return queue_; }
  QueueRunner& runner() { return runner_; }
  const std::string& summary_name() const { return summary_name_; }
  /// As QueueRunner::start. An epoch that a stop cut short, of a queue that cancel_op left open, is put again from its
  /// first row: rows of it that are in are there twice.
  void start(Coordinator& coordinator) { runner_.start(coordinator); }
  /// The next row, in an element of one component; of a slice_input_producer, a row of each tensor. Errors are those of
  /// Queue::dequeue, and those of the lookup: what the queue gave is gone then, the next call goes on behind it.
  Result<Element> dequeue(Wait wait = {}) const;
  /// dequeue() as a source of batches; may be called from several threads.
  Source source() const;

 private:
  FIFOQueue queue_;
  QueueRunner runner_;
  std::string summary_name_;
  Lookup lookup_;
};

/// Gives `example` num_epochs times, then OutOfRange; without num_epochs for ever. May be called from several threads.
/// Throws Exception(InvalidArgument) for num_epochs below 1.
Source limit_epochs(Element example, std::optional<int64_t> num_epochs = {});

/// Each throws Exception(InvalidArgument) for a list without rows, num_epochs below 1, and what a queue refuses.

/// The rows of `rows`, along its first dimension.
InputProducer input_producer(const Tensor& rows, const InputProducerOptions& options = {});
/// Strings, as scalars of dtype bytes: mostly the names of files, for a reader (readers.h).
InputProducer string_input_producer(const std::vector<std::string>& strings, const InputProducerOptions& options = {});
/// The int64 numbers 0, ..., limit - 1.
InputProducer range_input_producer(int64_t limit, const InputProducerOptions& options = {});
/// Row i of each tensor, for numbers i that a range producer gives; its queue holds the numbers, its elements keep the
/// names. The tensors have the same number of rows; the rows of large ones share their memory. A number that is not of
/// one of their rows (somebody else put it, or a producer of more rows with the same shared_name) is InvalidArgument.
InputProducer slice_input_producer(Element tensors, const InputProducerOptions& options = {});

}  // namespace headpond::tf1

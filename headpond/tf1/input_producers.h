// SPDX-License-Identifier: Apache-2.0
// The input producers of TensorFlow 1: a thread fills a queue with the rows of a list, epoch after epoch. In TensorFlow
// they were nodes of a graph; here each is a small object, and start() makes its thread.
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
  std::optional<Shape> element_shape = {};       ///< If given, rows of another shape are refused. May have kUnknown.
  std::optional<int64_t> num_epochs = {};        ///< How often all rows are enqueued; {}: without end.
  bool shuffle = true;                           ///< A new order of the rows in each epoch.
  uint64_t seed = 0;                             ///< The order of epoch e follows from (seed, e) alone.
  int64_t capacity = 32;                         ///< Capacity of the queue, in rows.
  std::string shared_name = "";                  ///< See QueueOptions::shared_name.
  std::string summary_name = "";                 ///< The last part of the tag in monitor's charts.
  std::string name = "";                         ///< The queue's name; "": input_producer, numbered from the second on.
  std::function<Result<void>()> cancel_op = {};  ///< See QueueRunnerOptions::cancel_op.
};

/// A FIFOQueue and the runner of one thread that fills it: with all rows of an epoch in one enqueue_many, then with
/// those of the next epoch. After num_epochs the thread closes the queue and ends. A handle: copies are the same
/// producer. Thread-safe.
class InputProducer {
 public:
  /// Turns an element of the queue into the one that dequeue() returns. An exception counts as an error.
  using Lookup = std::function<Result<Element>(const Element&)>;
  InputProducer(FIFOQueue queue, QueueRunner runner, std::string summary_name = "", Lookup lookup = {});

  const Queue& queue() const { return queue_; }
  QueueRunner& runner() { return runner_; }
  const std::string& summary_name() const { return summary_name_; }
  /// See QueueRunner::start. If a stop interrupted an epoch and cancel_op left the queue open, the epoch starts again
  /// from its first row: its rows that are in the queue already will be there twice.
  void start(Coordinator& coordinator) { runner_.start(coordinator); }
  /// The next row, as an element of one component; of a slice_input_producer, a row of each tensor. Fails as
  /// Queue::dequeue does, or if the lookup fails: the queue's element is then lost, and the next call goes on after it.
  Result<Element> dequeue(Wait wait = {}) const;
  /// dequeue() as a source of batches; several threads may call it.
  Source source() const;

 private:
  FIFOQueue queue_;
  QueueRunner runner_;
  std::string summary_name_;
  Lookup lookup_;
};

/// Returns `example` num_epochs times, then OutOfRange; without num_epochs always. Several threads may call it. Throws
/// Exception(InvalidArgument) for num_epochs below 1.
Source limit_epochs(Element example, std::optional<int64_t> num_epochs = {});

/// Each throws Exception(InvalidArgument) for a list without rows, for num_epochs below 1, and for what a queue
/// refuses.

/// The rows of `rows`, along its first dimension.
InputProducer input_producer(const Tensor& rows, const InputProducerOptions& options = {});
/// Strings, as scalars of dtype bytes: usually the names of files, for a reader (readers.h).
InputProducer string_input_producer(const std::vector<std::string>& strings, const InputProducerOptions& options = {});
/// The int64 numbers 0, ..., limit - 1.
InputProducer range_input_producer(int64_t limit, const InputProducerOptions& options = {});
/// Row i of each tensor, for the numbers i of a range producer: the queue holds the numbers, the elements have the
/// names of `tensors`. All tensors have the same number of rows; rows of large tensors share their memory. A number
/// without a row is InvalidArgument: another producer enqueued it, perhaps one of more rows with the same shared_name.
InputProducer slice_input_producer(Element tensors, const InputProducerOptions& options = {});

}  // namespace headpond::tf1

// SPDX-License-Identifier: Apache-2.0
// Queues between threads that prepare data (producers) and threads that use it (consumers), with TensorFlow 1's names.
// Elements are tuples of tensors, a queue is bounded, and it is closed when no more elements will come. All calls are
// thread-safe. Enqueues that wait are served in order of arrival, and so are dequeues.
#pragma once

#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/queue/queue_options.h"
#include "headpond/queue/wait.h"
#include "headpond/tensor/element.h"

namespace headpond {

struct QueueStats {
  int64_t enqueued;          ///< Elements put since the start.
  int64_t dequeued;          ///< Elements taken since the start; enqueued - dequeued = size.
  int64_t waiting_enqueues;  ///< Calls that wait now, also a close(). Often above 0: the consumers are slow.
  int64_t waiting_dequeues;  ///< Calls that wait now. Often above 0: the producers are slow; add some, or make them
                             ///< cheaper.
  int64_t enqueue_waits;     ///< Calls that waited for room, or for an earlier enqueue that did.
  int64_t
      enqueue_wait_ns;    ///< Their waiting time in all. Large compared with the run: the queue is full, as it should.
  int64_t dequeue_waits;  ///< Calls that waited for elements, or for an earlier dequeue that did.
  int64_t dequeue_wait_ns;    ///< Their waiting time in all: what the training steps lost. Near 0: producers keep up.
  int64_t capacity;           ///< The option, or less if the memory limit allows less; kUnbounded: no bound.
  int64_t min_after_dequeue;  ///< 0 for all types but RandomShuffleQueue.
  int64_t size;               ///< Elements inside.
  /// Percentiles of single waits, of which a call may have several; at most 1/8 too large. dequeue_wait_p99_ns far
  /// above dequeue_wait_p50_ns: the producers are fast enough, but uneven; a larger capacity helps.
  int64_t enqueue_wait_p50_ns = 0, enqueue_wait_p99_ns = 0, dequeue_wait_p50_ns = 0, dequeue_wait_p99_ns = 0;
  /// Elements inside when an enqueue had put its own, and when a dequeue began: the means. They are looked at for the
  /// first 64 elements, then for fewer, each 509th at least. dequeue_size_mean near 0: the producers are slow; near the
  /// capacity: the consumers are.
  double enqueue_size_mean = 0, dequeue_size_mean = 0;
  int64_t size_peak = 0;  ///< The most elements that were inside when an enqueue looked.
  /// Bytes of payload inside: now, and the most. Of elements that differ in size, without a memory limit, their number
  /// times the mean size of those that were looked at.
  int64_t bytes = 0, bytes_peak = 0;
};

namespace internal {
class QueueState;
}

/// A handle to a queue: copies refer to the same queue, and const handles allow the same calls. This base has what all
/// types share; construct one of the types below, of padding_fifo_queue.h or of priority_queue.h.
///
/// When the last handle is destroyed, the queue is closed as by close(true), and the elements inside are gone. Give
/// each thread its own copy, and any copy may be destroyed at any time. If threads share one handle, destroy it only
/// while their calls wait: if it was the last one, waiting enqueues return Cancelled, waiting dequeues OutOfRange.
///
/// Errors; each names the queue:
/// - InvalidArgument: dtypes or shapes are not the queue's. Returned at once, also if the queue is full.
/// - Cancelled: an enqueue into a closed queue; or Wait::stop or close(true) ended the call.
/// - OutOfRange: the queue is closed and has too few elements. If a producer failed, cause() is its error.
/// - DeadlineExceeded: Wait::timeout passed.
/// - ResourceExhausted: there is no memory for a batch, or an element is above the memory limit.
/// - FailedPrecondition: as QueueOptions::watchdog says; or the queue was made before a fork(), and this is
///   the child, where it cannot be used.
class Queue {
 public:
  Result<void> enqueue(Element element, Wait wait = {}) const;
  /// Puts the rows of a batch, whose components have one more dimension in front: one by one, as room appears. After an
  /// error the rows that were put stay inside.
  Result<void> enqueue_many(Element rows, Wait wait = {}) const;
  Result<Element> dequeue(Wait wait = {}) const;
  /// Returns `n` elements, stacked along a new first dimension. Waits until it has taken n; after an error all of them
  /// are back at the front.
  Result<Element> dequeue_many(int64_t n, Wait wait = {}) const;
  /// The same, but once the queue is closed its last 1 to n - 1 elements are a result, not an error.
  Result<Element> dequeue_up_to(int64_t n, Wait wait = {}) const;
  Result<void> try_enqueue(Element element) const {
    return enqueue(std::move(element), {.timeout = std::chrono::nanoseconds(0)});
  }
  Result<Element> try_dequeue() const { return dequeue({.timeout = std::chrono::nanoseconds(0)}); }

  /// false: queues up after the enqueues that wait or run now, and closes the queue when it has its turn. Later
  /// enqueues then end as Cancelled. Dequeues get what is inside, also below min_after_dequeue. Cancelled iff the queue
  /// was closed already. true: closes at once, waiting enqueues end as Cancelled; never an error.
  Result<void> close(bool cancel_pending_enqueues = false) const;
  /// Like close(true). Consumers get the elements that are inside, then OutOfRange with this cause.
  void close_with_error(Error cause) const;
  /// Sets the cause of the OutOfRange that consumers will get, without closing. Only the first call counts.
  void set_failure(Error cause) const;

  bool is_closed() const;
  int64_t size() const;  ///< Elements inside, without those that a waiting dequeue_many has taken.
  QueueStats stats() const;
  const std::string& name() const;
  int64_t capacity() const;  ///< QueueOptions::capacity.
  const std::vector<DType>& dtypes() const;
  const std::vector<Shape>& shapes() const;
  const std::vector<std::string>& names() const;

  class Iterator;
  /// for (Element& element : queue): ends at the end of the data (Error::is_end()); throws Exception for other errors.
  /// A std::ranges::input_range: elements that were passed over are gone.
  Iterator begin() const;
  std::default_sentinel_t end() const { return {}; }

 protected:
  explicit Queue(std::shared_ptr<internal::QueueState> state) : state_(std::move(state)) {}
  static size_t checked_index(int64_t index, const std::vector<Queue>& queues);

 private:
  friend class QueueRunner;  // Tells the queue about its producers.
  std::shared_ptr<internal::QueueState> state_;
};

class Queue::Iterator {
 public:
  using value_type = Element;
  using difference_type = std::ptrdiff_t;
  explicit Iterator(Queue queue) : queue_(std::move(queue)) { ++*this; }
  Element& operator*() const { return *element_; }  ///< May be moved from.
  Iterator& operator++();
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return !element_; }

 private:
  Queue queue_;
  mutable std::optional<Element> element_;
};

/// First in, first out, in the order in which the enqueues completed.
/// The constructor throws Exception(InvalidArgument) for options that contradict each other.
class FIFOQueue : public Queue {
 public:
  explicit FIFOQueue(QueueOptions options);
  /// Returns the queue at `index`. Throws Exception(InvalidArgument) for a bad index, an empty list, or queues whose
  /// dtypes or names differ.
  static FIFOQueue from_list(int64_t index, std::vector<FIFOQueue> queues);
};

/// A dequeue takes one of the elements inside, each with the same probability. While the queue is open,
/// `min_after_dequeue` elements stay inside. The choice is a function of `seed`, of the earlier choices, and of what is
/// inside at that moment. 0 is a seed like any other; pass entropy() for a different order each time.
class RandomShuffleQueue : public Queue {
 public:
  RandomShuffleQueue(QueueOptions options, int64_t min_after_dequeue, uint64_t seed = 0);
  static RandomShuffleQueue from_list(int64_t index, std::vector<RandomShuffleQueue> queues);
};

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// Queues between threads that prepare data and threads that use it, in TensorFlow 1's words: elements are tuples of
// tensors, a queue is bounded, and it is closed when no more will come. Thread-safe throughout; calls that wait are
// served in order of arrival, those that put apart from those that take.
#pragma once

#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/queue/wait.h"
#include "headpond/tensor/element.h"

namespace headpond {

struct QueueOptions {
  int64_t capacity;                     ///< In elements; kUnbounded: none; 0 is refused.
  std::vector<DType> dtypes;            ///< One per component; at least one.
  std::vector<Shape> shapes = {};       ///< None, or one per component; needed by dequeue_many and dequeue_up_to.
  std::vector<std::string> names = {};  ///< None, or one per component; then elements are named.
  std::string name = "";                ///< For texts, charts and traces; "": `default_name`, numbered.
  std::string shared_name = "";         ///< Queues of one shared name are one queue; all but the name must agree.
  /// Bytes of payload inside; an enqueue waits while its element does not fit, as it waits for the capacity. Refused if
  /// it is less than min_after_dequeue elements and one; an element that is larger alone is ResourceExhausted.
  int64_t memory_limit = kUnbounded;
  /// When elements have not flowed for so long while a call waits, one line in the log says who waits for what, and
  /// what the runners' producers are doing; a dequeue whose producers have all ended, and closed nothing, ends then as
  /// FailedPrecondition. {} switches both off. A log sink that hears it is inside the call that waits: see log.h.
  std::optional<std::chrono::nanoseconds> watchdog = std::chrono::seconds(60);
  /// When min_after_dequeue will not be reached in that time at the rate of the first 64 elements, one warning in the
  /// log has the forecast and the number that would be.
  std::chrono::nanoseconds fill_patience = std::chrono::seconds(60);
  std::string default_name = "";  ///< "": the shared name as it is, else the type's TensorFlow name.
};

struct QueueStats {
  int64_t enqueued;          ///< Elements put since the start.
  int64_t dequeued;          ///< Elements taken; enqueued - dequeued = size.
  int64_t waiting_enqueues;  ///< Calls that wait at this moment, a close() in line included. Often above 0: consumers
                             ///< are slow.
  int64_t waiting_dequeues;  ///< Likewise. Often above 0: producers are slow; add producers, or make them cheaper.
  int64_t enqueue_waits;     ///< Calls that found the queue full and waited, or in line behind one that did.
  int64_t enqueue_wait_ns;   ///< The time they waited. Large beside the run's length: the queue is full, which is good.
  int64_t dequeue_waits;     ///< Calls that found too little and waited, or in line behind one that did.
  int64_t dequeue_wait_ns;   ///< The time they waited, added up: what the training steps lost. Near 0: fed.
  int64_t capacity;          ///< kUnbounded: none; less than the queue's where the memory limit allows fewer.
  int64_t min_after_dequeue;  ///< 0 unless a RandomShuffleQueue.
  int64_t size;
};

namespace internal {
class QueueState;
}

/// A handle: copies are the same queue, and a const one serves as well. This base has what all types have; make one of
/// the types below, of padding_fifo_queue.h or of priority_queue.h.
///
/// When the last handle goes, the queue is closed as by close(true). A handle may go while calls through it wait, as
/// stats() counts them: these end, enqueues as Cancelled, dequeues as OutOfRange, and what they need stays until then.
/// It must not go while a call through it does anything else; who cannot know uses a copy.
///
/// Errors, all with the queue's name in the text: InvalidArgument for an element of other components (at once, never in
/// line); Cancelled for an enqueue into a closed queue, and when Wait::stop or close(true) ended the call; OutOfRange
/// when the queue is closed and has too little, whose cause() is the producer's error if one failed; DeadlineExceeded
/// after Wait::timeout; ResourceExhausted without memory for a batch; FailedPrecondition as QueueOptions::watchdog and
/// log.h say, and in the child of a fork() where a call would wait at a queue that was made before.
class Queue {
 public:
  Result<void> enqueue(Element element, Wait wait = {}) const;
  /// Each component has one more dimension in front, the rows; row by row as room appears. Rows that are in stay in on
  /// an error.
  Result<void> enqueue_many(Element rows, Wait wait = {}) const;
  Result<Element> dequeue(Wait wait = {}) const;
  /// `n` elements stacked along a new first dimension. Takes them as they come; on an error gives them back, to the
  /// front.
  Result<Element> dequeue_many(int64_t n, Wait wait = {}) const;
  /// The same, but a closed queue's last 1 to n - 1 elements are a result, not an error.
  Result<Element> dequeue_up_to(int64_t n, Wait wait = {}) const;
  Result<void> try_enqueue(Element element) const {
    return enqueue(std::move(element), {.timeout = std::chrono::nanoseconds(0)});
  }
  Result<Element> try_dequeue() const { return dequeue({.timeout = std::chrono::nanoseconds(0)}); }

  /// false: in line behind the enqueues that wait; then no more come in, and dequeues drain the queue. Cancelled iff
  /// closed already. true: at once; waiting enqueues end as Cancelled; never an error.
  Result<void> close(bool cancel_pending_enqueues = false) const;
  /// As close(true); consumers get the elements that are in, then OutOfRange with `cause` as its cause.
  void close_with_error(Error cause) const;
  /// Records `cause` for the OutOfRange to come, without closing. The first one recorded stays.
  void set_failure(Error cause) const;

  bool is_closed() const;
  int64_t size() const;  ///< Elements inside; those drained into a waiting dequeue_many do not count.
  QueueStats stats() const;
  const std::string& name() const;
  int64_t capacity() const;
  const std::vector<DType>& dtypes() const;
  const std::vector<Shape>& shapes() const;
  const std::vector<std::string>& names() const;

  class Iterator;
  /// for (Element& element : queue): until OutOfRange without a cause; any other error is thrown as Exception.
  Iterator begin() const;
  std::default_sentinel_t end() const { return {}; }

 protected:
  explicit Queue(std::shared_ptr<internal::QueueState> state) : state_(std::move(state)) {}
  static size_t checked_index(int64_t index, const std::vector<Queue>& queues);

 private:
  friend class QueueRunner;  // Tells the queue who fills it.
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

/// First in, first out, in the order in which enqueues complete.
/// Throws Exception(InvalidArgument) for options that contradict themselves.
class FIFOQueue : public Queue {
 public:
  explicit FIFOQueue(QueueOptions options);
  /// The queue at `index`. Throws Exception(InvalidArgument) for a bad index, an empty list, unlike dtypes or names.
  static FIFOQueue from_list(int64_t index, std::vector<FIFOQueue> queues);
};

/// A dequeue takes any of those inside, each as likely; `min_after_dequeue` stay while the queue is open. The choice
/// follows from `seed` (0 like any other; entropy() for chance), the choices before it, and what is inside by then.
class RandomShuffleQueue : public Queue {
 public:
  RandomShuffleQueue(QueueOptions options, int64_t min_after_dequeue, uint64_t seed = 0);
  static RandomShuffleQueue from_list(int64_t index, std::vector<RandomShuffleQueue> queues);
};

}  // namespace headpond

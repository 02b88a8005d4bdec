// SPDX-License-Identifier: Apache-2.0
// A small buffer between two stages, for example for batches on their way to a device. Unlike a queue it is never
// closed, has no watchdog, and elements can be peeked at. It is slower: between producers and consumers use a queue.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/queue/wait.h"
#include "headpond/tensor/element.h"

namespace headpond {

struct StagingOptions {
  std::vector<DType> dtypes;            ///< One per component; at least one.
  std::vector<Shape> shapes = {};       ///< None, or one per component.
  std::vector<std::string> names = {};  ///< None, or one per component; then elements are named.
  int64_t capacity = kUnbounded;        ///< Most elements inside; 0 means kUnbounded too, as in TensorFlow.
  int64_t memory_limit = kUnbounded;    ///< Most bytes of payload inside; 0 means kUnbounded too.
  std::string shared_name = "";         ///< Areas with one shared name are one area; all options but `name` must agree.
  std::string name = "";                ///< For messages; "": the shared name, else the type and a number.
};

/// Sums since the area was made. An element is a complete key in a MapStagingArea.
struct StagingStats {
  int64_t puts = 0, gets = 0;                  ///< Elements put; elements taken.
  int64_t waiting_puts = 0, waiting_gets = 0;  ///< Calls that wait now; peeks count as gets.
  int64_t put_waits = 0, get_waits = 0;        ///< Calls that waited, also in vain.
  int64_t put_wait_ns = 0;  ///< Their time in all: there was work, but no room. Large: the consumers are slow.
  int64_t get_wait_ns = 0;  ///< The same: there was nothing to take. Large: the producers are slow.
  /// Percentiles of single waits, at most 1/8 too large.
  int64_t put_wait_p50_ns = 0, put_wait_p99_ns = 0, get_wait_p50_ns = 0, get_wait_p99_ns = 0;
  /// Elements inside when a put had put its own, and when a get began: the means. get_size_mean near 0: the producers
  /// are slow; near the capacity: the consumers are.
  double put_size_mean = 0, get_size_mean = 0;
  int64_t capacity = kUnbounded;
  int64_t size = 0, size_peak = 0;    ///< Elements inside: now, and the most.
  int64_t bytes = 0, bytes_peak = 0;  ///< Bytes of payload inside, those of incomplete keys included.
};

namespace internal {
class StagingState;
}

/// First in, first out. A handle: copies refer to the same area, and const handles allow the same calls. Thread-safe.
/// Puts are served in order of arrival; a small one never overtakes a large one that waits. Gets and peeks that can be
/// served are served in order of arrival. When the last handle is destroyed, waiting calls end as Cancelled.
///
/// Errors; each names the area, and a call that fails changes nothing:
/// - InvalidArgument: the element does not fit the components. Returned at once.
/// - Cancelled: Wait::stop is requested.
/// - DeadlineExceeded: Wait::timeout passed.
/// - FailedPrecondition: the area was made before a fork(), and this is the child. There, make no other calls either.
class StagingArea {
 public:
  /// Throws Exception(InvalidArgument) for options that contradict each other or, with a shared name, the existing
  /// area's.
  explicit StagingArea(StagingOptions options);

  /// Waits until there is room under the capacity and the memory limit. An element that is larger than the memory limit
  /// is refused at once as ResourceExhausted.
  Result<void> put(Element element, Wait wait = {}) const;
  /// Takes the oldest element; waits until there is one.
  Result<Element> get(Wait wait = {}) const;
  /// Returns the element at `index`, counted from the oldest; it stays inside. Waits until there are that many, which
  /// is for ever if `index` is not below the capacity. InvalidArgument for an index below 0.
  Result<Element> peek(int64_t index, Wait wait = {}) const;

  int64_t size() const;   ///< Elements inside.
  int64_t bytes() const;  ///< Bytes of their payload.
  void clear() const;     ///< Drops all elements; waiting puts continue.

  int64_t waiting_puts() const;  ///< Calls that wait now.
  int64_t waiting_gets() const;  ///< Gets and peeks that wait now.
  StagingStats stats() const;
  const std::string& name() const;

 private:
  std::shared_ptr<internal::StagingState> state_;
};

}  // namespace headpond

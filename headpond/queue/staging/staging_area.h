// SPDX-License-Identifier: Apache-2.0
// A small buffer between two stages, such as batches on their way to a device: a queue that is never closed, whose
// elements can be looked at. It is not the fast path, and has no watchdog; between producers and consumers use a queue.
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
  int64_t capacity = kUnbounded;        ///< In elements; 0 is unbounded too, as in TensorFlow.
  int64_t memory_limit = kUnbounded;    ///< In bytes of payload; 0 is unbounded too.
  std::string shared_name = "";         ///< Areas of one shared name are one area; all but the name must agree.
  std::string name = "";                ///< For texts; "": the shared name, else the type, numbered.
};

namespace internal {
class StagingState;
}

/// First in, first out. A handle: copies are the same area, and a const one serves as well. Thread-safe. Puts are
/// served in order of arrival, a small one never before a large one that waits. Gets and peeks, too, come in order of
/// arrival among those that an element lets go on. When the last handle goes, calls that still wait end as Cancelled.
///
/// Errors, with the area's name in the text: InvalidArgument for an element of other components, at once; Cancelled
/// when Wait::stop ended the call, or had been stopped before it; DeadlineExceeded after Wait::timeout. A call that
/// fails changes nothing.
class StagingArea {
 public:
  /// Throws Exception(InvalidArgument) for options that contradict themselves or, with a shared name, the area's.
  explicit StagingArea(StagingOptions options);

  /// Waits while the area holds `capacity` elements, or would hold more bytes than the memory limit. ResourceExhausted,
  /// at once, for an element that alone is above the memory limit.
  Result<void> put(Element element, Wait wait = {}) const;
  /// Takes the oldest element; waits for one.
  Result<Element> get(Wait wait = {}) const;
  /// The element that `index` others are older than; it stays inside. Waits until there are so many: for ever if the
  /// capacity is not above `index`. InvalidArgument for an index below 0.
  Result<Element> peek(int64_t index, Wait wait = {}) const;

  int64_t size() const;   ///< Elements inside.
  int64_t bytes() const;  ///< Their payload.
  void clear() const;     ///< Drops them; puts that wait go on.

  int64_t waiting_puts() const;  ///< Calls that wait at this moment.
  int64_t waiting_gets() const;  ///< Likewise, peeks counted in.
  const std::string& name() const;

 private:
  std::shared_ptr<internal::StagingState> state_;
};

}  // namespace headpond

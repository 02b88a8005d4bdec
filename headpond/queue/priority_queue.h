// SPDX-License-Identifier: Apache-2.0
// A queue that returns the most urgent element first.
#pragma once

#include <cstdint>
#include <vector>

#include "headpond/queue/queue.h"

namespace headpond {

/// A dequeue takes the element with the smallest priority; among equal ones, the one that was put first. The priority
/// is component 0, an int64 scalar, in elements and in batches; dtypes() and shapes() begin with it.
///
/// dequeue_many(n) takes the n smallest of one moment: no element leaves until n are inside, so an n above the capacity
/// is refused as InvalidArgument. dequeue_up_to(n) waits for n elements or a full queue. A memory limit needs elements
/// of one size: shapes for all components, and no strings.
class PriorityQueue : public Queue {
 public:
  /// `options.dtypes` and `options.shapes` do not contain the priority; `options.names`, if any, begin with its name.
  /// Throws Exception(InvalidArgument) for options that contradict each other.
  explicit PriorityQueue(QueueOptions options);
  /// See FIFOQueue::from_list.
  static PriorityQueue from_list(int64_t index, std::vector<PriorityQueue> queues);
};

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// A queue that gives the most urgent element first.
#pragma once

#include <cstdint>
#include <vector>

#include "headpond/queue/queue.h"

namespace headpond {

/// A dequeue takes the element of the smallest priority of those inside; of equal ones, the first that came in.
/// The priority is component 0, an int64 scalar, in elements and in batches; dtypes() and shapes() begin with it.
///
/// dequeue_many(n) takes the n smallest of one moment: nothing leaves until n are inside, so more than the capacity is
/// refused as InvalidArgument. dequeue_up_to(n) waits for n or a full queue.
class PriorityQueue : public Queue {
 public:
  /// `options` has dtypes and shapes without the priority, but names, if any, with its name first. Throws
  /// Exception(InvalidArgument) for options that contradict themselves.
  explicit PriorityQueue(QueueOptions options);
  /// As FIFOQueue::from_list.
  static PriorityQueue from_list(int64_t index, std::vector<PriorityQueue> queues);
};

}  // namespace headpond

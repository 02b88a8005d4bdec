// SPDX-License-Identifier: Apache-2.0
// A FIFO queue for elements of different sizes, which batches pad.
#pragma once

#include <cstdint>
#include <vector>

#include "headpond/queue/queue.h"

namespace headpond {

/// First in, first out. Each component has a shape, of which dimensions may be kUnknown: there, elements differ.
/// dequeue() gives an element as it was put. dequeue_many and dequeue_up_to make an unknown dimension as long as the
/// longest of their batch; elements are at its front, and the rest is zero or the empty string. They answer
/// Unimplemented if a component with an unknown dimension has more than four dimensions. The rows of one enqueue_many
/// have the same shape.
class PaddingFIFOQueue : public Queue {
 public:
  /// Throws Exception(InvalidArgument) for options that contradict themselves, or without shapes.
  explicit PaddingFIFOQueue(QueueOptions options);
  /// As FIFOQueue::from_list; shapes may differ.
  static PaddingFIFOQueue from_list(int64_t index, std::vector<PaddingFIFOQueue> queues);
};

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// A FIFO queue for elements that differ in size; batches are padded.
#pragma once

#include <cstdint>
#include <vector>

#include "headpond/queue/queue.h"

namespace headpond {

/// First in, first out. Each component has a shape; in dimensions that are kUnknown, elements may differ. dequeue()
/// returns an element as it was put. dequeue_many and dequeue_up_to make each unknown dimension as long as the longest
/// element of the batch needs, and fill the space after shorter elements with zeros or empty strings. They return
/// Unimplemented if a component with an unknown dimension has more than four dimensions. The rows of one enqueue_many
/// have the same shape.
class PaddingFIFOQueue : public Queue {
 public:
  /// Throws Exception(InvalidArgument) for options that contradict each other, and for options without shapes.
  explicit PaddingFIFOQueue(QueueOptions options);
  /// See FIFOQueue::from_list; shapes may differ.
  static PaddingFIFOQueue from_list(int64_t index, std::vector<PaddingFIFOQueue> queues);
};

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/priority_queue.h"

#include <utility>

#include "headpond/queue/queue_state_internal.h"

namespace headpond {
namespace {

// No dtypes stay none, which is refused.
QueueOptions with_priority(QueueOptions options) {
  if (!options.dtypes.empty()) options.dtypes.insert(options.dtypes.begin(), i64);
  if (!options.shapes.empty()) options.shapes.insert(options.shapes.begin(), Shape());
  return options;
}

}  // namespace

PriorityQueue::PriorityQueue(QueueOptions options)
    : Queue(internal::make_queue(with_priority(std::move(options)),
                                 {.type = "PriorityQueue",
                                  .default_name = "priority_queue",
                                  .chooses = true,
                                  .takes_at_once = true,
                                  .layout = internal::Layout::with_priority,
                                  .make_order = [](internal::Slots& slots, const internal::Packing& packing, uint64_t) {
                                    return internal::smallest_first(slots, packing);
                                  }})) {}

PriorityQueue PriorityQueue::from_list(int64_t index, std::vector<PriorityQueue> queues) {
  return queues[checked_index(index, {queues.begin(), queues.end()})];
}

}  // namespace headpond

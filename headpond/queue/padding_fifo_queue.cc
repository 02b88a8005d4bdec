// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/padding_fifo_queue.h"

#include <utility>

#include "headpond/queue/queue_state_internal.h"

namespace headpond {

PaddingFIFOQueue::PaddingFIFOQueue(QueueOptions options)
    : Queue(internal::make_queue(std::move(options),
                                 {.type = "PaddingFIFOQueue",
                                  .default_name = "padding_fifo_queue",
                                  .layout = internal::Layout::padded,
                                  .make_order = [](internal::Slots& slots, const internal::Packing& packing, uint64_t) {
                                    return internal::first_in_first_out(slots, packing);
                                  }})) {}

PaddingFIFOQueue PaddingFIFOQueue::from_list(int64_t index, std::vector<PaddingFIFOQueue> queues) {
  return queues[checked_index(index, {queues.begin(), queues.end()})];
}

}  // namespace headpond

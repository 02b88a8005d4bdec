// SPDX-License-Identifier: Apache-2.0
#include <concurrentqueue/blockingconcurrentqueue.h>
#include <concurrentqueue/lightweightsemaphore.h>

#include "cli/handoff.h"

namespace headpond::cli {
namespace {

// The queue itself has no bound: a second semaphore counts the room that is left.
template <class Item>
HandoffTime run(const HandoffRun& asked) {
  moodycamel::BlockingConcurrentQueue<Item> queue(static_cast<size_t>(asked.capacity));
  moodycamel::LightweightSemaphore room(asked.capacity);
  moodycamel::ProducerToken put_token(queue);
  moodycamel::ConsumerToken take_token(queue);
  return hand_off(
      asked,
      [&](int64_t i) {
        room.wait();
        queue.enqueue(put_token, make_item<Item>(i));
      },
      [&] {
        Item item{};
        queue.wait_dequeue(take_token, item);
        room.signal();
        return number_in(item);
      });
}

}  // namespace

std::vector<HandoffSystem> moodycamel_peer() {
  return {
      {.system = "moodycamel", .version = HEADPOND_MOODYCAMEL_VERSION, .payload = "int64 element", .run = run<Element>},
      {.system = "moodycamel", .version = HEADPOND_MOODYCAMEL_VERSION, .payload = "int64", .run = run<int64_t>}};
}

}  // namespace headpond::cli

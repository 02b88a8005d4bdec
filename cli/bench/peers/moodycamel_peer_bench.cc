// SPDX-License-Identifier: Apache-2.0
#include <concurrentqueue/blockingconcurrentqueue.h>
#include <concurrentqueue/lightweightsemaphore.h>

#include <list>

#include "cli/bench/handoff.h"

namespace headpond::cli {
namespace {

// The queue itself has no bound: a second semaphore counts the room that is left.
template <class Item>
HandoffTime run(const HandoffRun& asked) {
  moodycamel::BlockingConcurrentQueue<Item> queue(static_cast<size_t>(asked.capacity));
  moodycamel::LightweightSemaphore room(asked.capacity);
  std::list<moodycamel::ProducerToken> producers;
  std::list<moodycamel::ConsumerToken> consumers;
  std::vector<moodycamel::ProducerToken*> put_tokens;
  std::vector<moodycamel::ConsumerToken*> take_tokens;
  for (int i = 0; i < asked.threads; ++i) {
    put_tokens.push_back(&producers.emplace_back(queue));
    take_tokens.push_back(&consumers.emplace_back(queue));
  }
  return hand_off(
      asked, true,
      [&](int side, int64_t i) {
        room.wait();
        queue.enqueue(*put_tokens[static_cast<size_t>(side)], make_item<Item>(i));
      },
      [&](int side) {
        Item item{};
        queue.wait_dequeue(*take_tokens[static_cast<size_t>(side)], item);
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

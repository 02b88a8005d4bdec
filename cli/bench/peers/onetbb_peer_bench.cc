// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/version.h>

#include "cli/bench/handoff.h"

namespace headpond::cli {
namespace {

template <class Item>
HandoffTime run(const HandoffRun& asked) {
  tbb::concurrent_bounded_queue<Item> queue;
  queue.set_capacity(asked.capacity);
  return hand_off(
      asked, true, [&](int, int64_t i) { queue.push(make_item<Item>(i)); },
      [&](int) {
        Item item{};
        queue.pop(item);
        return number_in(item);
      });
}

}  // namespace

std::vector<HandoffSystem> onetbb_peer() {
  return {{.system = "onetbb", .version = TBB_runtime_version(), .payload = "int64 element", .run = run<Element>},
          {.system = "onetbb", .version = TBB_runtime_version(), .payload = "int64", .run = run<int64_t>}};
}

}  // namespace headpond::cli

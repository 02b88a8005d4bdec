// SPDX-License-Identifier: Apache-2.0
// What bench queue.handoff measures: items that one thread puts into a bounded queue and another takes out. Every
// system moves the same items; what a call costs is its own.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/base/cpu.h"
#include "headpond/base/thread.h"
#include "headpond/tensor/element.h"

namespace headpond::cli {

struct HandoffRun {
  int64_t capacity = 16;
  int64_t items = 0;
  int producer_cpu = 0, consumer_cpu = 0;
};

struct HandoffTime {
  double ns_per_item = 0;
  bool in_order = false;  ///< Each item arrived, in the order of the puts.
};

struct HandoffSystem {
  std::string system, version;
  std::string payload;           ///< "int64 element" or "int64"
  bool slow_when_small = false;  ///< Gets fewer items at small capacities.
  std::function<HandoffTime(const HandoffRun&)> run;
};

/// An item of each payload, and the number in it.
template <class Item>
Item make_item(int64_t number) {
  if constexpr (std::is_same_v<Item, Element>) {
    return Element{Tensor::scalar(number)};
  } else {
    return number;
  }
}
inline int64_t number_in(const Element& item) { return item[size_t{0}].as<int64_t>()[0]; }
inline int64_t number_in(int64_t item) { return item; }

/// Runs put(0), put(1), ... on one CPU and take() on another; take returns the number that it took. Time runs from
/// the consumer's first call to the end of its last.
template <class Put, class Take>
HandoffTime hand_off(const HandoffRun& run, Put put, Take take) {
  HandoffTime time;
  Thread producer("handoff.put", [&] {
    (void)pin_this_thread(std::span(&run.producer_cpu, 1));
    for (int64_t i = 0; i < run.items; ++i) put(i);
  });
  Thread consumer("handoff.take", [&] {
    (void)pin_this_thread(std::span(&run.consumer_cpu, 1));
    const int64_t start = now_ns();
    int64_t wrong = 0;
    for (int64_t i = 0; i < run.items; ++i) wrong |= take() ^ i;
    time = {static_cast<double>(now_ns() - start) / static_cast<double>(run.items), wrong == 0};
  });
  producer.join();
  consumer.join();
  return time;
}

/// Systems that Headpond is compared with; defined iff the build found them.
std::vector<HandoffSystem> onetbb_peer();
std::vector<HandoffSystem> moodycamel_peer();

}  // namespace headpond::cli

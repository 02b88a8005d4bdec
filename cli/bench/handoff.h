// SPDX-License-Identifier: Apache-2.0
// What bench queue.handoff measures: items that some threads put into a bounded queue and others take out. Every system
// of a case moves the same items; what a call costs is its own.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
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
  int64_t items = 0;  ///< A multiple of `threads`.
  int threads = 1;    ///< A side. One: each is pinned to a CPU of its own.
  int producer_cpu = 0, consumer_cpu = 0;
};

struct HandoffTime {
  double ns_per_item = 0;
  bool in_order = false;  ///< Each item arrived; with one thread a side, in the order of the puts.
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

/// What the takes of one thread found.
struct alignas(64) HandoffShare {
  int64_t begin_ns = 0, end_ns = 0;
  int64_t wrong = 0;  ///< 0 iff the numbers were 0, 1, ...
  uint64_t sum = 0;   ///< Sum of the numbers taken, mixed.
};
HandoffTime sum_up(const HandoffRun& run, bool ordered, const std::vector<HandoffShare>& shares);
inline constexpr uint64_t kMix = 0x9E3779B97F4A7C15;

/// Threads of one side share the numbers 0, 1, ...: each calls put(its index, number), or take(its index), which
/// returns the number that it took. Time runs from the first take's begin to the last one's end.
template <class Put, class Take>
HandoffTime hand_off(const HandoffRun& run, bool ordered, Put put, Take take) {
  std::vector<HandoffShare> shares(static_cast<size_t>(run.threads));
  std::list<Thread> threads;
  const int64_t each = run.items / run.threads;
  const auto pin = [&run](int cpu) {
    if (run.threads == 1) (void)pin_this_thread(std::span(&cpu, 1));
  };
  for (int side = 0; side < run.threads; ++side) {
    threads.emplace_back("handoff.put", [&, side] {
      pin(run.producer_cpu);
      for (int64_t i = side * each, end = i + each; i < end; ++i) put(side, i);
    });
    threads.emplace_back("handoff.take", [&, side] {
      pin(run.consumer_cpu);
      HandoffShare share{.begin_ns = now_ns()};
      for (int64_t i = 0; i < each; ++i) {
        const int64_t number = take(side);
        share.wrong |= number ^ i;
        share.sum += static_cast<uint64_t>(number) * kMix;
      }
      share.end_ns = now_ns();
      shares[static_cast<size_t>(side)] = share;
    });
  }
  for (Thread& thread : threads) thread.join();
  return sum_up(run, ordered, shares);
}

/// Systems that Headpond is compared with; the first two are defined iff the build found them.
std::vector<HandoffSystem> onetbb_peer();
std::vector<HandoffSystem> moodycamel_peer();
/// What a queue waits with, and nothing around it.
std::vector<HandoffSystem> gate_peer();

}  // namespace headpond::cli

// SPDX-License-Identifier: Apache-2.0
// What the tests of the engine's parts share: to wait for what is promised
// without saying when, functions that meet or wait at a gate, generators that
// count.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/engine/loader.h"

namespace headpond::internal {

inline void pause_ms(int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

inline void busy_us(int64_t us) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
  while (std::chrono::steady_clock::now() < until) {
  }
}

/// True as soon as `condition` holds; false if it does not within `ms`, by
/// default longer than any machine is slow.
template <class Condition>
bool becomes_true(Condition condition, int64_t ms = 30'000) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return true;
}

/// Whether one of some runs is as it should be: in another one a busy machine may have taken the processors away. They
/// are not all in the same moment.
template <class Run>
bool is_so_in_one_run(Run run) {
  constexpr int kRuns = 6;
  for (int i = 0; i < kRuns; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100 * i));
    if (run()) return true;
  }
  return false;
}

/// As elements(), of a Loader: each element as text, "!kind: message" for an
/// error.
inline std::vector<std::string> rest_of(Loader& loader) {
  std::vector<std::string> all;
  for (int errors = 0; errors < 100;) {
    const auto next = loader.next();
    if (at_end(next)) break;
    all.push_back(next ? text_of(next->element()) : "!" + next.error().to_string());
    if (!next) ++errors;
  }
  return all;
}
inline std::vector<std::string> loaded(const Dataset& dataset, const LoaderOptions& options) {
  Loader loader(dataset, options);
  return rest_of(loader);
}

/// How many threads are inside at once, and were at most.
struct Crowd {
  std::atomic<int> inside = 0, most = 0, entered = 0;
  void enter() {
    ++entered;
    const int now = ++inside;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
  }
  void leave() { --inside; }
  /// Inside until there were `count` at once, or for `ms`.
  void meet(int count, int64_t ms = 30'000) {
    enter();
    becomes_true([&] { return most >= count; }, ms);
    leave();
  }
};

/// Closed until it is opened; never for longer than tests may take.
struct Gate {
  std::atomic<bool> open = false;
  void pass() const {
    becomes_true([&] { return open.load(); });
  }
};

/// 0, 1, ... below `count`; `begin_epoch` hears of each generator that is made,
/// `before_each` of each call.
inline Dataset generated(
    int64_t count, const std::function<void(uint64_t)>& begin_epoch = [](uint64_t) {},
    const std::function<void(int64_t)>& before_each = [](int64_t) {}) {
  return from_generator(
      [=](uint64_t epoch) -> Generator {
        begin_epoch(epoch);
        return [=, next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
          before_each(next);
          if (next == count) return std::nullopt;
          return Element{Tensor::scalar(next++)};
        };
      },
      {{"", DType::i64, {}}}, {.name = "generated"});
}

}  // namespace headpond::internal

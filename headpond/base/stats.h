// SPDX-License-Identifier: Apache-2.0
// Statistics cells: numbers that the lower layers write cheaply and any thread may read at any time.
#pragma once

#include <atomic>
#include <cstdint>

namespace headpond {

/// A sum with one writer at a time (under its owner's lock) and any number of readers. An addition is a load and a
/// store without a locked instruction; readers see a recent value.
class StatsCell {
 public:
  void add(int64_t amount) { value_.store(get() + amount, std::memory_order_relaxed); }
  int64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_ = 0;
};

/// The number of waits and their total time. Any number of writers: after a wait, a locked instruction costs little.
class WaitCell {
 public:
  /// `is_first`: false if the same waiter continues to wait.
  void add(int64_t waited_ns, bool is_first = true) {
    if (is_first) count_.fetch_add(1, std::memory_order_relaxed);
    total_ns_.fetch_add(waited_ns, std::memory_order_relaxed);
  }
  int64_t count() const { return count_.load(std::memory_order_relaxed); }
  int64_t total_ns() const { return total_ns_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> count_ = 0;
  std::atomic<int64_t> total_ns_ = 0;
};

}  // namespace headpond

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

/// The same for any number of writers, by a locked instruction.
class SharedStatsCell {
 public:
  void add(int64_t amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
  int64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_ = 0;
};

}  // namespace headpond

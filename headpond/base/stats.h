// SPDX-License-Identifier: Apache-2.0
// Stats cells: numbers that the bottom of the program writes cheaply and that any thread may read at any time.
#pragma once

#include <atomic>
#include <cstdint>

namespace headpond {

/// A sum with one writer at a time (under its owner's lock or turn) and any number of readers. An addition is a load
/// and a store without a locked instruction; readers see some recent value.
class StatsCell {
 public:
  void add(int64_t amount) { value_.store(get() + amount, std::memory_order_relaxed); }
  int64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_ = 0;
};

/// How often and how long somebody waited. The same rule: one writer at a time.
class WaitCell {
 public:
  void add(int64_t waited_ns) {
    count_.add(1);
    total_ns_.add(waited_ns);
  }
  int64_t count() const { return count_.get(); }
  int64_t total_ns() const { return total_ns_.get(); }

 private:
  StatsCell count_;
  StatsCell total_ns_;
};

}  // namespace headpond

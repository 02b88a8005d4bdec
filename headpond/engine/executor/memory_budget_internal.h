// SPDX-License-Identifier: Apache-2.0
// The bytes that a Loader may use, and what uses them: elements that are going to be made, elements that are ready, and
// what the program holds. Knows neither threads nor stages.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "headpond/tensor/buffer.h"

namespace headpond::internal {

/// Thread-safe, without a lock.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t bytes) : bytes_(bytes), pool_(bytes, bytes) {}

  /// Where elements are made. What the program holds is counted there.
  BufferPool& pool() { return pool_; }
  int64_t bytes() const { return bytes_; }
  /// For what a cache keeps. The rest is for what is made ahead.
  int64_t may_keep() const { return bytes_ / 2; }

  /// Bytes that are going to be allocated. Each reserve() is followed by a release().
  void reserve(int64_t bytes) { reserved_.fetch_add(bytes, std::memory_order_relaxed); }
  void release(int64_t bytes) { reserved_.fetch_sub(bytes, std::memory_order_relaxed); }
  /// Bytes of elements that nobody has taken yet. Elements may also lie in memory that is not the pool's.
  void add_ready(int64_t bytes) { ready_.fetch_add(bytes, std::memory_order_relaxed); }
  void remove_ready(int64_t bytes) { ready_.fetch_sub(bytes, std::memory_order_relaxed); }

  /// True iff `bytes` more fit beside all that is used and reserved.
  bool fits(int64_t bytes) const {
    int64_t all = 0;
    const bool fits = !__builtin_add_overflow(in_use() + reserved(), bytes, &all) && all <= bytes_;
    if (!fits) was_short_.store(true, std::memory_order_relaxed);
    return fits;
  }
  /// True iff fits() was false since the last call.
  bool take_shortage() { return was_short_.exchange(false, std::memory_order_relaxed); }

  int64_t reserved() const { return reserved_.load(std::memory_order_relaxed); }
  int64_t ready() const { return ready_.load(std::memory_order_relaxed); }
  /// To within 1 %.
  int64_t in_use() const { return std::max(pool_.bytes_in_use(), ready()); }
  /// The most bytes in use that note_peak() saw. note_peak() asks all stripes of the pool: not under the engine's lock.
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  void note_peak() {
    const int64_t now = pool_.stats().bytes_in_use;
    for (int64_t seen = peak(); seen < now && !peak_.compare_exchange_weak(seen, now, std::memory_order_relaxed);) {
    }
  }

 private:
  const int64_t bytes_;
  BufferPool pool_;
  std::atomic<int64_t> reserved_ = 0, ready_ = 0, peak_ = 0;
  mutable std::atomic<bool> was_short_ = false;
};

}  // namespace headpond::internal

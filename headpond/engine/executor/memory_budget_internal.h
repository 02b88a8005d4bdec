// SPDX-License-Identifier: Apache-2.0
// The bytes that a Loader may use, and what uses them: elements that are going to be made, elements that are ready, and
// what the program holds. Knows neither threads nor stages.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "headpond/base/mutex.h"
#include "headpond/tensor/buffer.h"

namespace headpond::internal {

/// How many Loaders, or groups of them with common Resources, use a pool. Thread-safe.
class PoolUsers {
 public:
  /// `count`: 1, or -1 for one that ends.
  static void add(const BufferPool& pool, int count) {
    PoolUsers& all = shared();
    MutexLock lock(all.mu_);
    int& users = all.counts_[&pool];
    users += count;
    if (users == 0) all.counts_.erase(&pool);
  }
  static int of(const BufferPool& pool) {
    PoolUsers& all = shared();
    MutexLock lock(all.mu_);
    const auto found = all.counts_.find(&pool);
    return found != all.counts_.end() ? found->second : 1;
  }

 private:
  // Never destroyed: a Loader may be a global variable.
  static PoolUsers& shared() {
    static auto* const all = new PoolUsers;
    return *all;
  }

  Mutex mu_;
  std::map<const BufferPool*, int> counts_ HEADPOND_GUARDED_BY(mu_);
};

/// The memory of one Loader, or of several that share it.
struct SharedMemory {
  explicit SharedMemory(int64_t all, std::shared_ptr<BufferPool> given = nullptr)
      : bytes(all), owner(given ? std::move(given) : std::make_shared<BufferPool>(all, all)), pool(*owner) {
    pool.limit(all);
    PoolUsers::add(pool, 1);
  }
  ~SharedMemory() { PoolUsers::add(pool, -1); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  const int64_t bytes;
  const std::shared_ptr<BufferPool> owner;
  BufferPool& pool;
  std::atomic<int64_t> reserved = 0, ready = 0, peak = 0;
  std::atomic<int> members = 0;
};

/// The budget of one Loader. Thread-safe; only part_of() takes a lock, and it is for reports.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t bytes) : MemoryBudget(std::make_shared<SharedMemory>(bytes)) {}
  explicit MemoryBudget(std::shared_ptr<SharedMemory> shared) : shared_(std::move(shared)) { ++shared_->members; }
  ~MemoryBudget() {
    shared_->reserved.fetch_sub(own_reserved_, std::memory_order_relaxed);
    shared_->ready.fetch_sub(own_ready_, std::memory_order_relaxed);
    --shared_->members;
  }
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  /// Where elements are made. What the program holds is counted there.
  BufferPool& pool() { return shared_->pool; }
  int64_t bytes() const { return shared_->bytes; }
  /// Loaders that share it.
  int members() const { return std::max(shared_->members.load(std::memory_order_relaxed), 1); }
  /// What this Loader has of `bytes` of its pool, which may be others' too: an equal part.
  int64_t part_of(int64_t bytes) const { return bytes / members() / PoolUsers::of(shared_->pool); }
  /// For what a cache keeps. The rest is for what is made ahead.
  int64_t may_keep() const { return bytes() / 2; }

  /// Bytes that are going to be allocated. Each reserve() is followed by a release().
  void reserve(int64_t more) {
    shared_->reserved.fetch_add(more, std::memory_order_relaxed);
    own_reserved_.fetch_add(more, std::memory_order_relaxed);
  }
  void release(int64_t bytes) { reserve(-bytes); }
  /// Bytes of elements that nobody has taken yet. Elements may also lie in memory that is not the pool's.
  void add_ready(int64_t more) {
    shared_->ready.fetch_add(more, std::memory_order_relaxed);
    own_ready_.fetch_add(more, std::memory_order_relaxed);
  }
  void remove_ready(int64_t bytes) { add_ready(-bytes); }

  /// True iff `bytes` more fit beside all that is used and reserved. What one of several makes ahead leaves a quarter
  /// of the memory to the others.
  bool fits(int64_t bytes) const {
    const bool is_alone = shared_->members.load(std::memory_order_relaxed) == 1;
    const int64_t own = own_ready_.load(std::memory_order_relaxed) + own_reserved_.load(std::memory_order_relaxed);
    const bool fits = is_within(in_use() + reserved(), bytes, shared_->bytes) &&
                      (is_alone || is_within(own, bytes, shared_->bytes - shared_->bytes / 4));
    if (!fits) was_short_.store(true, std::memory_order_relaxed);
    return fits;
  }
  /// True iff fits() has returned false since the last take_shortage().
  bool is_short() const { return was_short_.load(std::memory_order_relaxed); }
  /// The same, and forgets it.
  bool take_shortage() { return was_short_.exchange(false, std::memory_order_relaxed); }

  int64_t reserved() const { return shared_->reserved.load(std::memory_order_relaxed); }
  int64_t ready() const { return shared_->ready.load(std::memory_order_relaxed); }
  /// To within 1 %.
  int64_t in_use() const { return std::max(shared_->pool.bytes_in_use(), ready()); }
  /// The most bytes in use that note_peak() saw.
  int64_t peak() const { return shared_->peak.load(std::memory_order_relaxed); }
  void note_peak() {
    const int64_t now = pool().stats().bytes_in_use;
    for (int64_t seen = peak();
         seen < now && !shared_->peak.compare_exchange_weak(seen, now, std::memory_order_relaxed);) {
    }
  }

 private:
  static bool is_within(int64_t used, int64_t more, int64_t limit) {
    int64_t all = 0;
    return !__builtin_add_overflow(used, more, &all) && all <= limit;
  }

  const std::shared_ptr<SharedMemory> shared_;
  std::atomic<int64_t> own_reserved_ = 0, own_ready_ = 0;
  mutable std::atomic<bool> was_short_ = false;
};

}  // namespace headpond::internal

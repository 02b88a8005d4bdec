// SPDX-License-Identifier: Apache-2.0
// Atomics, mutexes and system calls under a Scheduler, for code that is compiled with these in place of the real ones.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <type_traits>

#include "headpond/base/mutex.h"
#include "headpond/queue/sync/scheduler_test_internal.h"

namespace headpond::internal {

/// A std::atomic at each of whose accesses another thread may take over, and whose stores may be delayed.
template <class T>
class ScheduledAtomic {
 public:
  constexpr ScheduledAtomic() = default;
  constexpr ScheduledAtomic(T value) : value_(value) {}

  T load(std::memory_order order = std::memory_order_seq_cst) const {
    Scheduler::point();
    const uint64_t* const own = Scheduler::delayed(&value_);
    return own != nullptr ? from_bits(*own) : value_.load(order);
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    Scheduler::point();
    if (order == std::memory_order_seq_cst) Scheduler::settle();
    if (order != std::memory_order_seq_cst && Scheduler::delay(&value_, to_bits(value), &write)) return;
    value_.store(value, order);
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) { return modify().exchange(value, order); }
  T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) { return modify().fetch_add(value, order); }
  T fetch_sub(T value, std::memory_order order = std::memory_order_seq_cst) { return modify().fetch_sub(value, order); }
  template <class... Orders>
  bool compare_exchange_strong(T& expected, T value, Orders... orders) {
    return modify().compare_exchange_strong(expected, value, orders...);
  }

 private:
  std::atomic<T>& modify() {
    Scheduler::point();
    Scheduler::settle();
    return value_;
  }
  static uint64_t to_bits(T value) {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<uint64_t>(value);
    } else {
      return static_cast<uint64_t>(value);
    }
  }
  static T from_bits(uint64_t bits) {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(bits);
    } else {
      return static_cast<T>(bits);
    }
  }
  static void write(void* to, uint64_t bits) {
    static_cast<std::atomic<T>*>(to)->store(from_bits(bits), std::memory_order_release);
  }

  std::atomic<T> value_{};
};

class HEADPOND_ANNOTATE(capability("mutex")) ScheduledMutex {
 public:
  void lock() HEADPOND_ACQUIRE() { Scheduler::lock(locked_); }
  void unlock() HEADPOND_RELEASE() { Scheduler::unlock(locked_); }

 private:
  bool locked_ = false;
};

class HEADPOND_ANNOTATE(scoped_lockable) ScheduledMutexLock {
 public:
  explicit ScheduledMutexLock(ScheduledMutex& mutex) HEADPOND_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~ScheduledMutexLock() HEADPOND_RELEASE() { mutex_.unlock(); }
  ScheduledMutexLock(const ScheduledMutexLock&) = delete;
  ScheduledMutexLock& operator=(const ScheduledMutexLock&) = delete;

 private:
  ScheduledMutex& mutex_;
};

/// The two system calls of signal.cc.
inline long system_call(long, uint32_t* word, int operation, uint32_t value, const timespec* until, std::nullptr_t,
                        uint32_t) {
  const int64_t deadline = until == nullptr ? INT64_MAX : until->tv_sec * 1'000'000'000 + until->tv_nsec;
  return Scheduler::futex(word, operation, value, deadline);
}
inline long system_call(long, int, int, int) {
  Scheduler::membarrier();
  return 0;
}
inline int cpus_of(int, size_t, cpu_set_t* set) {
  CPU_ZERO(set);
  for (int cpu = 0; cpu < Scheduler::cpus(); ++cpu) CPU_SET(static_cast<size_t>(cpu), set);
  return 0;
}

}  // namespace headpond::internal

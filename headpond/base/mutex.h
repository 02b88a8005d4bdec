// SPDX-License-Identifier: Apache-2.0
// A mutex for clang's thread-safety analysis (-Wthread-safety): members are annotated GUARDED_BY, functions REQUIRES.
// See https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
// Not for users.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define HEADPOND_ANNOTATE(x) __attribute__((x))
#else
#define HEADPOND_ANNOTATE(x)
#endif
#define HEADPOND_GUARDED_BY(mutex) HEADPOND_ANNOTATE(guarded_by(mutex))
#define HEADPOND_REQUIRES(...) HEADPOND_ANNOTATE(requires_capability(__VA_ARGS__))
#define HEADPOND_EXCLUDES(...) HEADPOND_ANNOTATE(locks_excluded(__VA_ARGS__))
#define HEADPOND_ACQUIRE(...) HEADPOND_ANNOTATE(acquire_capability(__VA_ARGS__))
#define HEADPOND_RELEASE(...) HEADPOND_ANNOTATE(release_capability(__VA_ARGS__))
#define HEADPOND_NO_THREAD_SAFETY_ANALYSIS HEADPOND_ANNOTATE(no_thread_safety_analysis)

namespace headpond {

class HEADPOND_ANNOTATE(capability("mutex")) Mutex {
 public:
  void lock() HEADPOND_ACQUIRE() { mutex_.lock(); }
  bool try_lock() HEADPOND_ANNOTATE(try_acquire_capability(true)) { return mutex_.try_lock(); }
  void unlock() HEADPOND_RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class HEADPOND_ANNOTATE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HEADPOND_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() HEADPOND_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// A condition variable for Mutex. Waits may wake spuriously: the caller loops over its condition.
class CondVar {
 public:
  void wait(Mutex& mutex) HEADPOND_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  /// Returns false iff `deadline` passed.
  template <class Clock, class Duration>
  bool wait_until(Mutex& mutex, std::chrono::time_point<Clock, Duration> deadline) HEADPOND_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool in_time = condition_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return in_time;
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace headpond

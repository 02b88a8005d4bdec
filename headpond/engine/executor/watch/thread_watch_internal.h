// SPDX-License-Identifier: Apache-2.0
// What threads compute, and what they are blocked in: samples of the clocks and states of a Loader's threads and of the
// process. They are taken while the program waits, so that they cost it no time, and, of clocks alone, now and then
// between its calls. It knows nothing of work: threads say themselves in which stage and operator they are.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/base/mutex.h"
#include "headpond/engine/executor/counting_internal.h"
#include "headpond/engine/executor/engine_lock_internal.h"
#include "headpond/engine/executor/watch/thread_look_internal.h"

namespace headpond::internal {

/// A thread that is watched. It sets these itself, all but `in_operator` under the lock.
struct WatchedThread {
  int id = 0;                                      ///< The system's; 0: the thread has not begun.
  const char* doing = nullptr;                     ///< The stage of its task; null: it has none.
  std::atomic<const void*> in_operator = nullptr;  ///< See `operator_here`.
};

/// Sums over the waits of the program that were looked at.
struct SeenInWaits {
  double ns = 0;                                    ///< The time of these waits. In it:
  double process_cpu_ns = 0;                        ///< - processor time of all threads of the process;
  double process_system_ns = 0;                     ///< - the part of it in the kernel;
  double own_cpu_ns = 0;                            ///< - of the Loader's threads and the one in next().
  std::map<const char*, SeenDoing> doing = {};      ///< What threads did in the tasks of each stage, by its name.
  std::map<const void*, SeenDoing> operators = {};  ///< The same in operators of samples, by their nodes.
};

class ThreadWatch {
 public:
  explicit ThreadWatch(EngineLock& lock) : lock_(lock) {}

  /// `thread` outlives this, or is removed.
  void add(const WatchedThread& thread) HEADPOND_REQUIRES(engine_state) { threads_.push_back(&thread); }
  void remove(const WatchedThread& thread) HEADPOND_REQUIRES(engine_state) { std::erase(threads_, &thread); }

  /// The program's thread sleeps until `ready` is notified and `waits()`, which is called under the lock, is false. The
  /// watch looks at the threads meanwhile if that takes so long that a look costs nothing beside it, and the last look
  /// is a while ago. Each quarter of a second of the wait it looks again, and calls `goes_on()`, under the lock.
  template <class Waits, class GoesOn>
  void wait(CondVar& ready, const Waits& waits, const GoesOn& goes_on) HEADPOND_REQUIRES(engine_state) {
    if (is_long(ready, waits)) {
      look_at_threads();
      const Clocks before = wait_clocks();
      sleep(ready, waits, goes_on);
      add_wait(before);
    }
    sleep(ready, waits, goes_on);
  }
  const SeenInWaits& seen_in_waits() const HEADPOND_REQUIRES(engine_state) { return seen_; }
  /// More than a third of the threads that were seen in tasks of `stage` were blocked in a lock; false before enough
  /// were.
  bool are_often_locked(const char* stage) const HEADPOND_REQUIRES(engine_state);

  /// By the thread that calls next(), at about `now`: how many processors the process's threads but this one and the
  /// watched ones have kept busy since the last look; clocks differ, so it may be a little below 0. None: the last look
  /// was a short time ago, or by another thread.
  std::optional<double> look_at_others(int64_t now) HEADPOND_REQUIRES(engine_state);

 private:
  template <class Waits, class GoesOn>
  void sleep(CondVar& ready, const Waits& waits, const GoesOn& goes_on) HEADPOND_REQUIRES(engine_state) {
    while (waits()) {
      const auto next_look = std::chrono::steady_clock::now() + kLongWait;
      if (lock_.wait_until(ready, next_look)) continue;
      if (kCounts) look_at_threads();
      goes_on();
    }
  }
  struct Clocks {
    int64_t at_ns = 0, own_ns = 0, process_ns = 0, system_ns = 0;
  };
  template <class Waits>
  bool is_long(CondVar& ready, const Waits& waits) HEADPOND_REQUIRES(engine_state) {
    if (!kCounts) return false;
    const int64_t now = now_ns();
    if (now < next_look_ns_) return false;
    const auto until = std::chrono::steady_clock::now() + kShortWait;
    while (waits() && lock_.wait_until(ready, until)) {
    }
    if (!waits()) return false;
    next_look_ns_ = now + kBetweenLooksNs;
    return true;
  }
  Clocks clocks() const HEADPOND_REQUIRES(engine_state);       // All but system_ns.
  Clocks wait_clocks() const HEADPOND_REQUIRES(engine_state);  // All of them.
  void add_wait(const Clocks& before) HEADPOND_REQUIRES(engine_state);
  void look_at_threads() HEADPOND_REQUIRES(engine_state);

  static constexpr std::chrono::milliseconds kShortWait{2}, kLongWait{250};
  static constexpr int64_t kBetweenLooksNs = 20'000'000;

  EngineLock& lock_;
  std::vector<const WatchedThread*> threads_ HEADPOND_GUARDED_BY(engine_state);
  SeenInWaits seen_ HEADPOND_GUARDED_BY(engine_state);
  int64_t next_look_ns_ HEADPOND_GUARDED_BY(engine_state) = 0;
  Clocks last_ HEADPOND_GUARDED_BY(engine_state);  // Of look_at_others().
  int last_thread_ HEADPOND_GUARDED_BY(engine_state) = 0;
};

}  // namespace headpond::internal

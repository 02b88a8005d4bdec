// SPDX-License-Identifier: Apache-2.0
// The one lock of an engine. All parts of a Loader that threads share are guarded by it: it is taken once a task, and
// held for bookkeeping and to start threads (docs/decisions/0004).
#pragma once

#include <chrono>

#include "headpond/base/interrupt/interruptible.h"
#include "headpond/base/mutex.h"

namespace headpond::internal {

/// What guarded members and functions are annotated with: the lock of the engine that the object belongs to. clang
/// compares names, so it could not know that the lock of an executor and that of its buffers are the same one. No
/// thread holds the locks of two engines.
class HEADPOND_ANNOTATE(capability("engine lock")) EngineState {};
inline constexpr EngineState engine_state;

class EngineLock {
 public:
  void lock() HEADPOND_ACQUIRE(engine_state) HEADPOND_NO_THREAD_SAFETY_ANALYSIS { mutex_.lock(); }
  void unlock() HEADPOND_RELEASE(engine_state) HEADPOND_NO_THREAD_SAFETY_ANALYSIS { mutex_.unlock(); }
  void wait(CondVar& condition) HEADPOND_REQUIRES(engine_state) HEADPOND_NO_THREAD_SAFETY_ANALYSIS {
    wait_and_look(condition, mutex_);
  }
  /// Returns false iff `deadline` passed.
  bool wait_until(CondVar& condition, std::chrono::steady_clock::time_point deadline)
      HEADPOND_REQUIRES(engine_state) HEADPOND_NO_THREAD_SAFETY_ANALYSIS {
    return wait_and_look_until(condition, mutex_, deadline);
  }

 private:
  Mutex mutex_;
};

/// Holds the lock while it lives.
class HEADPOND_ANNOTATE(scoped_lockable) Locked {
 public:
  explicit Locked(EngineLock& lock) HEADPOND_ACQUIRE(engine_state) : lock_(lock) { lock_.lock(); }
  ~Locked() HEADPOND_RELEASE() { lock_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  EngineLock& lock_;
};

/// Gives the lock up while it lives.
class HEADPOND_ANNOTATE(scoped_lockable) Unlocked {
 public:
  explicit Unlocked(EngineLock& lock) HEADPOND_RELEASE(engine_state) : lock_(lock) { lock_.unlock(); }
  ~Unlocked() HEADPOND_RELEASE() { lock_.lock(); }  // To the analysis: undoes what the constructor did.
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  EngineLock& lock_;
};

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// Takes turns between a Loader's state(), which may write to the disk, and calls that change what it saves.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "headpond/base/interrupt/interrupt.h"
#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"
#include "python/src/python.h"

namespace headpond::python {

/// The call of state(), which may write to the disk without the interpreter's lock, and calls that wait until it has
/// ended. They take turns. In the child of a fork() none runs, and nobody waits. REQUIRES of each: the interpreter's
/// lock.
class Saving {
 public:
  bool is_here() const { return home_.is_here(); }
  bool is_running() const { return is_here() && running_ > 0; }
  /// Threads that already wait go first, but for a short time only: the one that waits may be this thread, in a
  /// signal's handler.
  void give_turn() {
    if (!is_awaited()) return;
    const WithoutLock released;
    const auto end = std::chrono::steady_clock::now() + kLookInterval;
    const MutexLock lock(mu_);
    while (waiting_ > 0 && changed_.wait_until(mu_, end)) {
    }
  }
  /// What `save` returns, which runs without that lock. REQUIRES: is_here() and !is_running().
  template <class Save>
  std::string run(Save save) {
    std::optional<WithoutLock> released;
    const WhileCalling calling;
    const Counted counted(*this, 1, 0);
    released.emplace();
    return save();
  }
  /// Returns when none runs, or raises what a signal's handler raised.
  void wait() {
    while (is_running()) {
      const Counted counted(*this, 0, 1);  // Also while it waits for the interpreter's lock.
      value(waiting([&]() -> Result<void> {
        while (!is_idle_within(kLookInterval)) {
          if (look_for_interrupt())
            return fail(ErrorKind::Cancelled, "Loader: its wait for state_dict() was interrupted");
        }
        return {};
      }));
    }
  }

 private:
  bool is_awaited() const {
    if (!is_here()) return false;
    const MutexLock lock(mu_);
    return waiting_ > 0;
  }

  class Counted {
   public:
    Counted(Saving& saving, int running, int waiting) : saving_(saving), running_(running), waiting_(waiting) {
      saving_.count(running_, waiting_);
    }
    ~Counted() { saving_.count(-running_, -waiting_); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

   private:
    Saving& saving_;
    const int running_, waiting_;
  };

  void count(int running, int waiting) {
    const MutexLock lock(mu_);
    running_ += running;
    waiting_ += waiting;
    changed_.notify_all();
  }
  bool is_idle_within(std::chrono::nanoseconds most) {
    const auto end = std::chrono::steady_clock::now() + most;
    const MutexLock lock(mu_);
    while (running_ > 0) {
      if (!changed_.wait_until(mu_, end)) return running_ == 0;
    }
    return true;
  }

  const HomeProcess home_;
  mutable Mutex mu_;
  CondVar changed_;
  std::atomic<int> running_ = 0;  // Changed under mu_; whoever has the interpreter's lock looks without it.
  int waiting_ HEADPOND_GUARDED_BY(mu_) = 0;
};

/// A condition on which a thread waits that the child of a fork() does not have is not destroyed there: that would
/// wait.
struct EndSaving {
  void operator()(Saving* saving) const {
    if (saving->is_here()) delete saving;  // NOLINT(cppcoreguidelines-owning-memory)
  }
};

}  // namespace headpond::python

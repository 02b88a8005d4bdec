// SPDX-License-Identifier: Apache-2.0
// Stop sources, tokens and callbacks under a Scheduler. A stop has many steps, as the standard's has: the flag is
// raised, and then each callback is taken from the list and runs. Other threads may go on between any two of them.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "headpond/queue/sync/scheduled_atomic_test_internal.h"

namespace headpond::internal {

class ScheduledStopState {
 public:
  struct Callback {
    std::function<void()> call;
    bool taken = false;  // From the list, to run; then it
    bool done = false;
  };

  bool is_requested() const { return requested_.load(std::memory_order_acquire); }
  bool request() {
    {
      const ScheduledMutexLock lock(mu_);
      if (requested_.load()) return false;
      requested_.store(true);
    }
    while (run_next()) {
    }
    return true;
  }
  /// Runs the callback at once if a stop was requested.
  void add(Callback& callback) {
    {
      const ScheduledMutexLock lock(mu_);
      if (!requested_.load()) {
        callbacks_.push_back(&callback);
        return;
      }
      callback.taken = callback.done = true;
    }
    callback.call();
  }
  /// Returns when the callback runs neither now nor later. REQUIRES: not called from within it.
  void remove(Callback& callback) {
    {
      const ScheduledMutexLock lock(mu_);
      std::erase(callbacks_, &callback);
      if (!callback.taken || callback.done) return;
    }
    const ScheduledMutexLock until_done(runs_);
  }

 private:
  bool run_next() {
    const ScheduledMutexLock runs(runs_);
    Callback* next = nullptr;
    {
      const ScheduledMutexLock lock(mu_);
      if (callbacks_.empty()) return false;
      next = callbacks_.front();
      callbacks_.erase(callbacks_.begin());
      next->taken = true;
    }
    next->call();
    next->done = true;
    return true;
  }

  ScheduledMutex mu_;
  ScheduledMutex runs_;  // A callback.
  ScheduledAtomic<bool> requested_ = false;
  std::vector<Callback*> callbacks_;
};

class ScheduledStopToken {
 public:
  ScheduledStopToken() = default;
  bool stop_requested() const { return state_ != nullptr && state_->is_requested(); }

 private:
  friend class ScheduledStopSource;
  template <class Function>
  friend class ScheduledStopCallback;
  explicit ScheduledStopToken(std::shared_ptr<ScheduledStopState> state) : state_(std::move(state)) {}
  std::shared_ptr<ScheduledStopState> state_;
};

class ScheduledStopSource {
 public:
  ScheduledStopToken get_token() const { return ScheduledStopToken(state_); }
  bool request_stop() const { return state_->request(); }
  bool stop_requested() const { return state_->is_requested(); }

 private:
  std::shared_ptr<ScheduledStopState> state_ = std::make_shared<ScheduledStopState>();
};

template <class Function>
class ScheduledStopCallback {
 public:
  ScheduledStopCallback(const ScheduledStopToken& token, Function function)
      : state_(token.state_), callback_{std::move(function)} {
    if (state_ != nullptr) state_->add(callback_);
  }
  ~ScheduledStopCallback() {
    try {
      if (state_ != nullptr) state_->remove(callback_);
    } catch (...) {  // NOLINT(bugprone-empty-catch): the schedule is given up, as this thread's next wait finds too.
    }
  }
  ScheduledStopCallback(const ScheduledStopCallback&) = delete;
  ScheduledStopCallback& operator=(const ScheduledStopCallback&) = delete;

 private:
  const std::shared_ptr<ScheduledStopState> state_;
  ScheduledStopState::Callback callback_;
};

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// A clock that stands still until a test advances it.
#pragma once

#include <atomic>
#include <chrono>

#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/runner/wait_clock_internal.h"

namespace headpond::internal {

class ManualClock : public WaitClock {
 public:
  /// `looks_again`: waiters look at the time again and again; otherwise they must be notified, as with a real clock.
  explicit ManualClock(bool looks_again = true) : looks_again_(looks_again) {}
  int64_t now() override { return now_; }
  void wait_until(CondVar& changed, Mutex& mu, int64_t deadline) override HEADPOND_REQUIRES(mu) {
    deadline_ = deadline;
    ++looks_;
    if (!looks_again_) return changed.wait(mu);
    changed.wait_until(mu, std::chrono::steady_clock::now() + milliseconds(1));
  }
  /// Returns when the waiters have seen the new time. REQUIRES: there are waiters, and they go on waiting.
  void advance_in_vain(std::chrono::nanoseconds by) {
    now_ += by.count();
    const int64_t seen = looks_;
    eventually([&] { return looks_ >= seen + 2; });
  }
  void advance(std::chrono::nanoseconds by) { now_ += by.count(); }
  /// Returns when there is a waiter whose deadline is `from_start` after the start.
  void until_awaited(std::chrono::nanoseconds from_start) {
    eventually([&] { return deadline_ == kStart + from_start.count(); });
  }
  void until_awaited_for_ever() {
    eventually([&] { return deadline_ == INT64_MAX; });
  }
  void until_somebody_waits() { until_so_many_wait(1); }
  /// REQUIRES: with a `count` above 1, that waiters do not look again.
  void until_so_many_wait(int64_t count) {
    eventually([&] { return looks_ >= count; });
  }

 private:
  static constexpr int64_t kStart = 1'000'000'000;
  const bool looks_again_;
  std::atomic<int64_t> now_ = kStart;
  std::atomic<int64_t> deadline_ = -1;
  std::atomic<int64_t> looks_ = 0;
};

}  // namespace headpond::internal

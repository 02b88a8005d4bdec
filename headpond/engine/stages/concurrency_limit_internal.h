// SPDX-License-Identifier: Apache-2.0
// How many threads run functions that wait, for a network say, and hold a lock while they do not, as those of Python do
// (lock_wait.h). From some number on the lock is always held: more threads then only wait for each other, and the
// program, which needs that lock too, for each of them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace headpond::internal {

/// Follows the share of their time for which threads wait for the lock when they call a function. They wait for it
/// again each time that the function has given it up, which nobody counts; but while the lock is often free the share
/// is small, and it grows fast from where it is not. Beside a program that has the lock most of the time the share is
/// large for any number of threads, so it also counts how many wait at a time. One thread at a time.
class ConcurrencyLimit {
 public:
  struct EndedTask {
    int64_t elapsed_ns = 0;
    int64_t lock_wait_ns = 0;  ///< lock_wait_ns_by_thread.
    int running = 1;           ///< Threads in such tasks, this one included.
    int most = 1;              ///< Threads that there may be.
  };
  /// Returns true iff more threads may run now than before.
  bool add(const EndedTask& task) {
    if (task.lock_wait_ns == 0 && limit_ == 0) return false;
    if (limit_ == 0) limit_ = kFirst;
    elapsed_ns_ += task.elapsed_ns;
    lock_wait_ns_ += task.lock_wait_ns;
    at_limit_ += is_reached(task.running) ? 1 : 0;
    if (++tasks_ < 2 * limit_ || elapsed_ns_ < kWindowNs) return false;
    const int before = limit_;
    const double share = static_cast<double>(lock_wait_ns_) / static_cast<double>(elapsed_ns_);
    const double waiting = share * limit_;
    const bool are_few = share < kFew || waiting < kFewWaiting;
    doubles_ = doubles_ && are_few;
    if (share > kMany && waiting > kManyWaiting) {
      limit_ -= 1 + limit_ / 4;
    } else if (are_few && 2 * at_limit_ > tasks_) {  // Fewer that have work say nothing about more.
      limit_ += doubles_ ? limit_ : 1 + limit_ / 8;
    }
    limit_ = std::clamp(limit_, 1, std::max(task.most, 1));
    elapsed_ns_ = lock_wait_ns_ = tasks_ = at_limit_ = 0;
    return limit_ > before;
  }
  /// Whether no thread more may run beside `running` ones. Never of functions that hold no such lock.
  bool is_reached(int running) const { return limit_ > 0 && running >= limit_; }

 private:
  static constexpr int kFirst = 2;
  static constexpr int64_t kWindowNs = 100'000'000;               // Of all threads.
  static constexpr double kFew = 0.02, kMany = 0.05;              // Shares,
  static constexpr double kFewWaiting = 0.2, kManyWaiting = 0.5;  // and threads.

  int limit_ = 0;  // 0: there is no such lock.
  bool doubles_ = true;
  int64_t elapsed_ns_ = 0, lock_wait_ns_ = 0, tasks_ = 0, at_limit_ = 0;
};

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// How many threads make the rows of a stage whose functions hold a lock while they run, as those of Python do
// (lock_wait.h). More of them would wait for each other, and the program, which needs that lock too, for each of them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace headpond::internal {

/// Follows the share of their time that threads wait for such locks. One thread at a time.
///
/// Threads that compute: one more below a tenth of their time, one less above half of it.
///
/// Functions that also wait for something else, on I/O threads, need many threads, and then a share says little: what
/// counts is how many threads wait for the lock at a time, their number times the share. While that is less than half a
/// thread, the lock is often free when another thread could have it. Above two threads somebody always waits for it,
/// and more threads only wake, look and wait again. Such a function gives the lock up at least once while it runs, and
/// what it then waits to get it back is not counted, so twice as many wait in truth, or more: between 1 and 4. A lock
/// of which so many wait is held for more than four fifths of the time; the test has the figures.
class ConcurrencyLimit {
 public:
  struct EndedTask {
    int64_t elapsed_ns = 0, lock_wait_ns = 0;
    bool waits = false;  ///< The stage's rows wait for something else than this lock, too.
    int running = 1;     ///< Threads that make rows, this one included.
    int most = 1;        ///< Threads that there may be.
  };
  /// Returns true iff more threads may run now than before.
  bool add(const EndedTask& task) {
    if (limit_ == 0 && task.lock_wait_ns == 0) return false;
    if (limit_ == 0 || waits_ != task.waits) begin(task);
    elapsed_ns_ += task.elapsed_ns;
    waited_ns_ += task.lock_wait_ns;
    if (++tasks_ < limit_ || elapsed_ns_ < kWindowNs) return false;
    const double share = static_cast<double>(waited_ns_) / static_cast<double>(elapsed_ns_);
    elapsed_ns_ = waited_ns_ = tasks_ = 0;
    const double waiting = share * task.running;
    const int before = limit_;
    // Few that have no work say nothing about more.
    if (task.running >= limit_ && (waits_ ? waiting < kFewWaiting : share < kFew)) {
      limit_ += waits_ ? 1 + limit_ / 2 : 1;
    } else if (waits_ ? waiting > kManyWaiting : share > kMany) {
      limit_ -= waits_ ? 1 + limit_ / 8 : 1;
    }
    limit_ = std::clamp(limit_, 1, std::max(task.most, 1));
    return limit_ > before;
  }
  /// Whether no thread more may run beside `running` ones. Never of a stage that waited for no such lock.
  bool is_reached(int running) const { return limit_ > 0 && running >= limit_; }

 private:
  // What computes begins with one thread. What waits begins with those that began before the first of them ended: many
  // if that takes long.
  void begin(const EndedTask& task) {
    waits_ = task.waits;
    limit_ = waits_ ? std::max(task.running, limit_) : 1;
    elapsed_ns_ = waited_ns_ = tasks_ = 0;
  }

  static constexpr int64_t kWindowNs = 20'000'000;  // Of all threads.
  static constexpr double kFew = 0.1, kMany = 0.5;  // Parts of the time.
  static constexpr double kFewWaiting = 0.5, kManyWaiting = 2;

  int limit_ = 0;  // 0: there is no such lock.
  bool waits_ = false;
  int tasks_ = 0;
  int64_t elapsed_ns_ = 0, waited_ns_ = 0;
};

}  // namespace headpond::internal

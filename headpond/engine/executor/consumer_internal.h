// SPDX-License-Identifier: Apache-2.0
// What an engine knows of the program that takes its batches: how often it comes, whether it waits, whether it computes
// in between, and so whether it had better make cheap batches itself.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>

#include "headpond/engine/executor/engine_lock_internal.h"
#include "headpond/engine/executor/moving_average_internal.h"
#include "headpond/engine/executor/step_account_internal.h"

namespace headpond::internal {

/// Of which steps the processor's time is asked for: after a sleep that clock takes as long as all that a call does
/// itself. Of each of the first few; then, while they are as was expected, of one in three to seven, so that none of a
/// period that a program has is missed for ever; and of the step after one that was not.
///
/// One thread at a time.
class CpuLooks {
 public:
  bool is_due() const { return left_ == 0; }
  /// A step passes, whether it is looked at or not.
  void pass() { left_ = std::max(left_ - 1, 0); }
  /// The step that was looked at was as expected, or not.
  void looked(bool as_expected) {
    ++looks_;
    left_ = as_expected && looks_ > kFirst ? kLeast + static_cast<int>((looks_ * kGolden >> 32) % kDifferent) : 0;
  }

 private:
  static constexpr uint64_t kFirst = 3, kDifferent = 5;
  static constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;  // Multiples of it are spread evenly.
  static constexpr int kLeast = 2;

  int left_ = 0;
  uint64_t looks_ = 0;
};

class Consumer {
 public:
  explicit Consumer(bool may_help) : may_help_(may_help) {}

  // ---- By the program's thread, without the lock.
  /// next() was called. The step that this ends is counted by count_step().
  void arrive(EngineLock& lock) HEADPOND_EXCLUDES(engine_state);
  /// next() returns. `was_ready`: it gave what was ready, and did nothing else. Then, while steps are short, only each
  /// seventh call reads the clock, and the others are taken to be as long.
  void leave(bool was_ready = false) HEADPOND_EXCLUDES(engine_state);
  /// The same, of a try_next() for which nothing was ready: until the program has its batch, it is as if it were in one
  /// call of next().
  void leave_empty();
  /// Moves the end of the last call from leave() to now. Only the first call after a leave() does so.
  void leave_late();
  /// The step in progress does not count: the program does something else before its next call. One of try_next()
  /// ended when that returned.
  void pause();

  // ---- By any thread, without the lock.
  /// Counts how often something became ready that the program may wait for.
  uint64_t progress() const { return progress_.load(std::memory_order_acquire); }
  void count_progress() { progress_.fetch_add(1, std::memory_order_acq_rel); }
  /// Whether it computes between two calls, or sleeps. Until this is known it computes.
  bool computes() const { return computes_.load(std::memory_order_relaxed); }
  /// Steps are so long that looking at clocks costs nothing beside them; or nothing is known of them.
  bool has_long_steps() const { return steps_are_long_.load(std::memory_order_relaxed); }
  /// When next() was called last; 0: never.
  int64_t arrived_ns() const { return arrived_ns_.load(std::memory_order_relaxed); }
  /// next() has not returned yet.
  bool is_in_call() const { return in_call_.load(std::memory_order_acquire); }
  /// When it last left without a batch, if it has not had one since; else 0.
  int64_t polled_ns() const { return polled_ns_.load(std::memory_order_relaxed); }
  /// How long it has waited for a batch at `now`, in next() or calling try_next() again and again; 0: it does not.
  int64_t waited_ns(int64_t now) const {
    constexpr int64_t kStillPollingNs = 1'000'000'000;  // A program that polls comes again before that.
    const int64_t polled = polled_ns();
    const bool waits = is_in_call() && (polled == 0 || now - polled < kStillPollingNs);
    return waits ? std::max(now - arrived_ns(), int64_t{0}) : 0;
  }
  /// The time that calls of next() took up to `now`, the one in progress too.
  int64_t called_ns(int64_t now) const {
    const int64_t ended = called_ns_.load(std::memory_order_acquire);
    return ended + (is_in_call() ? now - arrived_ns() : 0);
  }
  /// The same, without the one in progress.
  int64_t called_before_ns() const { return called_ns_.load(std::memory_order_acquire); }
  /// The processor that it was seen on last; -1: none yet.
  int cpu() const { return cpu_.load(std::memory_order_relaxed); }

  // ---- By the program's thread, under the lock.
  /// Counts the step that the call in progress ended, when this call of next() first has the lock. Again: does nothing.
  void count_step() HEADPOND_REQUIRES(engine_state);

  // ---- Under the lock.
  /// Since the last look, threads of the process that are neither the Loader's nor the one that calls next() have kept
  /// so many processors busy; clocks differ, so it may be a little below 0.
  void count_others(double processors) HEADPOND_REQUIRES(engine_state);
  /// It computes in other threads as well, which run on whichever processor is free.
  bool has_other_threads() const HEADPOND_REQUIRES(engine_state) { return has_other_threads_; }
  /// The program takes a batch. `work_ns`: work of all threads since the last one. Returns true iff it should no longer
  /// make batches itself.
  bool count_take(int64_t work_ns, bool any_blocking) HEADPOND_REQUIRES(engine_state);
  int64_t takes() const HEADPOND_REQUIRES(engine_state) { return takes_; }
  /// Mean time between two takes from a stage that gave `taken` items since the program's take number `since`; 0:
  /// unknown.
  double take_interval_ns(int64_t taken, int64_t since) const HEADPOND_REQUIRES(engine_state);
  /// Batches cost less than handing them over, so next() makes them.
  bool is_inline() const HEADPOND_REQUIRES(engine_state) { return inline_; }
  /// next() sleeps until something is ready.
  bool is_waiting HEADPOND_GUARDED_BY(engine_state) = false;
  /// try_next() found nothing, and has not come for its batch yet: nothing is as urgent as that batch.
  bool is_asking HEADPOND_GUARDED_BY(engine_state) = false;
  StepAccount steps HEADPOND_GUARDED_BY(engine_state);

 private:
  int64_t now_leaving(bool was_short);

  const bool may_help_;
  int64_t left_ns_ = 0, left_cpu_ns_ = 0;                // Belong to the program's thread.
  int64_t left_queue_ns_ = -1, next_queue_look_ns_ = 0;  // The same.
  CpuLooks cpu_looks_;                                   // The same.
  int64_t step_took_ns_ = 0;                             // The same: between the last two calls; 0: there was none.
  std::thread::id left_on_;                              // The thread that these are of.
  int64_t ready_calls_ = 0, ready_call_ns_ = 0;          // The same: calls of what was ready, and how long one is.
  bool is_polling_ = false;                              // The same: try_next() found nothing last time,
  bool came_again_ = false;                              // and so the call in progress began with that one.
  bool may_end_late_ = false;                            // The same: the last call ended by leave().
  struct EndedStep {
    bool is_known = false;  // There was a call before, and no pause since.
    int64_t call_ns = 0;
    StepAccount::Work work = {};
  };
  std::optional<EndedStep> ended_step_;  // The same: until it is counted.
  std::atomic<int64_t> arrived_ns_ = 0, called_ns_ = 0, polled_ns_ = 0;
  std::atomic<bool> in_call_ = false;
  MovingAverage busy_{0.2, 0.2};  // The same: the share of a step in which it computes.
  std::atomic<uint64_t> progress_ = 0;
  std::atomic<int> cpu_ = -1;
  std::atomic<bool> computes_ = false;
  std::atomic<bool> steps_are_long_ = true;  // Or unknown.

  MovingAverage step_ns_ HEADPOND_GUARDED_BY(engine_state){0.05, 0.5};  // From leave() to arrive().
  int64_t takes_ HEADPOND_GUARDED_BY(engine_state) = 0;
  double mean_work_ns_ HEADPOND_GUARDED_BY(engine_state) = 0, mean_takes_ HEADPOND_GUARDED_BY(engine_state) = 0;
  MovingAverage mean_others_ HEADPOND_GUARDED_BY(engine_state){0.3, 0.3};
  bool has_other_threads_ HEADPOND_GUARDED_BY(engine_state) = false;
  MovingAverage inline_batch_ns_ HEADPOND_GUARDED_BY(engine_state){0.2, 0.2};
  bool inline_ HEADPOND_GUARDED_BY(engine_state) = false;
};

}  // namespace headpond::internal

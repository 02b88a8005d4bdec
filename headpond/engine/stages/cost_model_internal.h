// SPDX-License-Identifier: Apache-2.0
// What was measured of a stage, and how much work a task therefore takes. ReorderBuffer::target() computes from it how
// far ahead the stage runs. The next epoch begins with these figures.
#pragma once

#include <cstdint>

#include "headpond/engine/executor/moving_average_internal.h"

namespace headpond::internal {

/// Whether tasks of a kind wait without being declared blocking. If so they run on io threads, as long as they wait:
/// files that were read once are in memory, and then the same tasks compute.
class Waits {
 public:
  /// Counts a task, which counts for more the longer it took. Returns true iff blocking() changed.
  bool add(bool waited, int64_t elapsed_ns);
  bool blocking() const { return blocking_; }
  void declare() { blocking_ = true; }

 private:
  double waited_ns_ = 0, all_ns_ = 0;  // Of the last tasks.
  int64_t seen_ = 0, waits_ = 0;       // Tasks, and those that waited, since `blocking_` changed.
  bool blocking_ = false;
};

/// A task opens an item of work, which has rows, or makes some of its rows.
class CostModel {
 public:
  static constexpr int64_t kTasksAfterSurprise = 256;
  static constexpr double kTaskNs = 100'000;  ///< What one claim is to take; a hand-over costs about a hundredth of it.
  static constexpr int64_t kMostElementsOpened = 256, kMostItemBytes = 1 << 20;
  static constexpr int64_t kTasksSeen = 8;  ///< That waited, before that is believed; any, before it is unbelieved.

  /// Of latency_ns(): near the longest of late.
  static constexpr MovingAverage latency() { return {0.5, 0.05}; }

  // ---- What was measured.
  void add_opened(int64_t elements, int64_t elapsed_ns);
  void add_rows(int64_t rows, int64_t elapsed_ns);
  /// `latency_ns`: since its first task. `most_bytes`: of an item.
  void add_completed(int64_t elements, int64_t bytes, int64_t latency_ns, int64_t most_bytes);
  /// Counts rows that were sampled, instead of add_rows(): the time contains that of the clocks, and of binding views.
  void add_sampled(int64_t elapsed_ns) { sampled_ns_ += elapsed_ns; }
  /// Counts a task that was measured. Returns true iff is_blocking() may have changed.
  bool add_wait(bool is_opening, bool waited, int64_t elapsed_ns) {
    return (is_opening ? opens_ : rows_).add(waited, elapsed_ns);
  }
  /// A task that was to be short, and so was not measured, was a long one: the next tasks are measured, too.
  void add_surprise() { surprises_ = kTasksAfterSurprise; }
  /// Counts a task that made rows and waited so long for the locks of functions.
  void add_locked(int64_t rows, int64_t elapsed_ns, int64_t lock_wait_ns);
  void declare_blocking() {
    opens_.declare();
    rows_.declare();
  }

  // ---- What follows from it.
  bool opens_wait() const { return opens_.blocking(); }
  bool rows_wait() const { return rows_.blocking(); }
  bool is_blocking() const { return opens_wait() || rows_wait(); }
  /// Its functions hold a lock while they do not wait: see ConcurrencyLimit.
  bool rows_wait_and_lock() const { return rows_wait() && locking_tasks_ > 0; }
  /// What so many rows are worth: the time that they took at first, without the waits for locks, which say how many
  /// others run and nothing of the function.
  double work_of(int64_t rows) const { return first_row_ns_ * static_cast<double>(rows); }
  double row_ns() const { return row_ns_.value(); }
  double open_ns() const { return open_ns_.value(); }  ///< An element's share.
  /// From an item's first task until it is ready.
  double latency_ns() const { return latency_ns_.value(); }
  /// An element's.
  double element_ns() const { return row_ns_.known() ? row_ns() : open_ns(); }
  /// Waking a thread costs little beside the most expensive items of late.
  bool is_dear() const { return latency_ns() > 2 * kTaskNs; }
  /// It costs much beside the cheaper items of late, as when threads lost their processors in the others.
  bool is_usually_cheap() const { return usual_latency_ns_.known() && usual_latency_ns_.value() <= 2 * kTaskNs; }
  /// Whether a task is measured because of a surprise not long ago. Each call counts as one such task.
  bool take_surprise() { return surprises_ > 0 && surprises_-- > 0; }
  /// How many rows of an item of `size` a task makes: a multiple of `together`, if all threads have some then.
  int64_t rows_for_task(int64_t size, int threads, int64_t together = 1) const;
  /// How many elements an item is opened with.
  int64_t elements_to_open() const { return chunk_; }
  /// The rows that are sampled stay a small share of the work, as a clock may take longer than a cheap operator.
  bool may_sample() const;
  int64_t completed() const { return completed_; }  ///< Items.
  int64_t largest_bytes() const { return largest_bytes_; }
  /// Size of the next item, where sizes differ; -1: unknown.
  int64_t expected_bytes() const { return completed_ == 0 ? -1 : largest_bytes_ + largest_bytes_ / 4; }

 private:
  MovingAverage row_ns_{0.2, 0.2}, open_ns_{0.2, 0.2};
  MovingAverage latency_ns_ = latency(), usual_latency_ns_{0.05, 0.5};
  Waits opens_, rows_;
  double first_row_ns_ = 0;  // Mean of the first tasks that took a lock.
  int64_t locking_tasks_ = 0;
  int64_t work_ns_ = 0, sampled_ns_ = 0;
  int64_t chunk_ = 1;
  int64_t surprises_ = 0;  // Tasks that are still to be measured after one.
  int64_t largest_bytes_ = 0, completed_ = 0;
};

}  // namespace headpond::internal

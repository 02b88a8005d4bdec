// SPDX-License-Identifier: Apache-2.0
// What the tasks of a stage took, and when there was nothing to do or nothing to take. All of it is counted under the
// engine's lock, once a task; the clocks of processor time are read for about each eighth task only, and how long a
// thread waited for its turn more seldom.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/base/math/log_histogram.h"
#include "headpond/engine/loader_stats.h"
#include "headpond/engine/stages/counts/crowding_internal.h"
#include "headpond/engine/stages/counts/crowding_trial_internal.h"

namespace headpond::internal {

/// What a task took of its thread. The rest of its time it was off the processor: blocked, or waiting for its turn.
struct TaskUse {
  double cpu_ns = 0;
  double blocked_ns = 0;  ///< Estimated from the number of times that it gave the processor up, or lost it.
  double lock_ns = 0;     ///< The part of it that was a wait for an interpreter: interpreter_wait_ns_by_thread.
  double queue_ns = -1;   ///< Time that it waited for its turn, as the system counts; below 0: not asked.
};

/// What a task took.
struct TaskRun {
  int64_t ended_ns = 0, elapsed_ns = 0;
  int64_t assembled_ns = 0;  ///< After `ended_ns`; 0: it was not its item's last task.
  int64_t read_bytes = 0;
  TaskUse use = {};  ///< Of a measured task.
};

class TaskMeter {
 public:
  /// Whether the next task is to be measured: after as much work as eight tasks do.
  bool is_due() const { return wall_ns_ >= due_ns_; }
  /// Whether the system is to be asked how long it waits for its turn, which takes some microseconds.
  bool is_queue_due() const { return wall_ns_ >= queue_due_ns_; }
  void add(int64_t elapsed_ns) {
    ++tasks_;
    wall_ns_ += elapsed_ns;
  }
  /// Time of the last task after its elements were made: it counts as they do.
  void add_assembling(int64_t ns) { wall_ns_ += ns; }
  void add_measured(int64_t elapsed_ns, const TaskUse& use) {
    add(elapsed_ns);
    due_ns_ = wall_ns_ + kBetweenNs;
    seen_ns_ += elapsed_ns;
    seen_cpu_ns_ += std::min(use.cpu_ns, static_cast<double>(elapsed_ns));
    seen_blocked_ns_ += use.blocked_ns;
    seen_lock_ns_ += use.lock_ns;
    if (use.queue_ns < 0) return;
    queue_due_ns_ = wall_ns_ + kBetweenQueueNs;
    const double off_ns = std::max(static_cast<double>(elapsed_ns) - use.cpu_ns, 0.0);
    asked_off_ns_ += off_ns;
    asked_queue_ns_ += std::min(use.queue_ns, off_ns);
  }
  int64_t mean_ns() const { return tasks_ > 0 ? wall_ns_ / tasks_ : 0; }
  TaskTimes times() const {
    const auto wall = static_cast<double>(wall_ns_);
    TaskTimes times{.tasks = tasks_, .wall_ns = wall};
    if (seen_ns_ == 0) return times;
    const double scale = wall / static_cast<double>(seen_ns_);
    times.cpu_ns = seen_cpu_ns_ * scale;
    const double off_ns = std::max(wall - times.cpu_ns, 0.0);
    times.queue_ns =
        asked_off_ns_ > 0 ? off_ns * asked_queue_ns_ / asked_off_ns_ : std::max(off_ns - seen_blocked_ns_ * scale, 0.0);
    times.blocked_ns = off_ns - times.queue_ns;
    times.lock_ns = std::min(seen_lock_ns_ * scale, times.blocked_ns);
    return times;
  }

 private:
  static constexpr int64_t kBetweenNs = 700'000, kBetweenQueueNs = 10'000'000;
  int64_t tasks_ = 0, wall_ns_ = 0, due_ns_ = 0, seen_ns_ = 0;
  double seen_cpu_ns_ = 0, seen_blocked_ns_ = 0, seen_lock_ns_ = 0;
  int64_t queue_due_ns_ = 0;
  double asked_off_ns_ = 0, asked_queue_ns_ = 0;
};

struct Mean {
  double sum = 0;
  int64_t count = 0;
  void add(int64_t value) {
    sum += static_cast<double>(value);
    ++count;
  }
  double value() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
};

/// The last values, oldest first.
template <class T, size_t kMost>
class Recent {
 public:
  void add(const T& value) { values_[count_++ % kMost] = value; }
  std::vector<T> values() const {
    std::vector<T> all;
    for (size_t i = count_ > kMost ? count_ - kMost : 0; i < count_; ++i) all.push_back(values_[i % kMost]);
    return all;
  }

 private:
  std::array<T, kMost> values_ = {};
  size_t count_ = 0;
};

struct StageCounters {
  TaskMeter open, make;
  Crowding crowding;           // Of calls that make elements.
  CrowdingTrial trial;         // The same.
  Recent<float, 512> item_ns;  // As StageStats::unit_ns, of each item.
  int64_t elements = 0, takes = 0, late = 0;
  double starved_ns = 0, full_ns = 0, refused_ns = 0;
  int64_t read_bytes = 0;
  int64_t holes = 0, errors = 0;
  int64_t ready_bytes = 0, ready_bytes_peak = 0;
  LogHistogram starved, idle;  // Each time of starved_ns; of full_ns and refused_ns.

  void add_starved(int64_t ns) {
    starved_ns += static_cast<double>(ns);
    starved.add(ns);
  }
  void add_idle(int64_t ns, double& to) {
    to += static_cast<double>(ns);
    idle.add(ns);
  }
  StageTotals totals() const {
    return {.open = open.times(),
            .make = make.times(),
            .elements = elements,
            .takes = takes,
            .late = late,
            .starved_ns = starved_ns,
            .full_ns = full_ns,
            .refused_ns = refused_ns,
            .read_bytes = read_bytes,
            .holes = holes,
            .errors = errors};
  }
};

}  // namespace headpond::internal

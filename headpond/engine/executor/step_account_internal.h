// SPDX-License-Identifier: Apache-2.0
// Where the time of steps goes: in calls of next(), by what made them wait, and in the program between them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/base/math/log_histogram.h"
#include "headpond/engine/loader_stats.h"

namespace headpond::internal {

/// "startup", "epoch_edge", ...
const char* name_of(WaitKind kind);

/// Guarded by the engine's lock.
class StepAccount {
 public:
  struct Work {
    int64_t ns = 0;
    double cpu_ns = -1;    ///< Below 0: not measured.
    double queue_ns = -1;  ///< Waiting for a processor. The same.
  };
  using Step = StepTime;

  /// The call that ends now gave a batch. `startup_calls`: so many belong to the start.
  void call_ends(int64_t startup_calls);
  /// The next call opens a later epoch.
  void epoch_begins() { is_edge_ = true; }
  /// Between two calls. A call that gave no batch is left out.
  void add(int64_t call_ns, const Work& work);
  /// What a call that begins now is, as far as that is known: whether it is one of a burst follows from later ones, so
  /// it is what the group before was.
  WaitKind kind_now() const { return is_starting_ ? WaitKind::startup : is_edge_ ? WaitKind::epoch_edge : last_group_; }
  /// Nor is the call that ended last counted: a pause came after it.
  void forget_call() { helped_ns_ = 0; }
  /// The call in progress did a task itself.
  void add_helped(int64_t ns) { helped_ns_ += static_cast<double>(ns); }

  StepStats stats() const;
  bool is_starting() const { return is_starting_; }
  int64_t calls() const { return calls_; }
  /// Steps after the start, and what they took.
  int64_t counted() const { return counted_; }
  double counted_call_ns() const { return stats_.call_ns - stats_.startup_ns; }
  double counted_work_ns() const { return stats_.work_ns - startup_work_ns_; }
  double startup_work_ns() const { return startup_work_ns_; }
  int64_t edges() const { return edges_; }
  /// Shares of the program's work: in which it computed; in which it waited for a processor. Below 0: unknown.
  double cpu_share() const { return measured_ns_ > 0 ? cpu_ns_ / measured_ns_ : -1; }
  double queue_share() const { return looked_ns_ > 0 ? queue_ns_ / looked_ns_ : -1; }
  /// The last ones after the start, oldest first.
  std::vector<Step> recent() const;

 private:
  static constexpr size_t kGroup = 16, kRecent = 512;
  enum class Kind : uint8_t { none, startup, edge, other };
  // An account may be copied, so its histograms can be.
  class Cell {
   public:
    void add(int64_t amount) { value_ += amount; }
    int64_t get() const { return value_; }

   private:
    int64_t value_ = 0;
  };

  WaitKind kind_of_group() const;
  void end_group();
  void count(WaitKind kind, int64_t call_ns) { times_[static_cast<size_t>(kind)].add(call_ns); }
  CallTimes times(WaitKind kind) const;

  Kind kind_ = Kind::none;                 // Kind of the call that ended last.
  WaitKind last_group_ = WaitKind::burst;  // Kind of the last group that was whole.
  bool is_starting_ = true, is_edge_ = false;
  int64_t calls_ = 0, counted_ = 0, edges_ = 0;
  StepStats stats_;
  double startup_work_ns_ = 0;
  double helped_ns_ = 0;  // Tasks in the call that ended last, or is in progress.
  double measured_ns_ = 0, cpu_ns_ = 0, looked_ns_ = 0, queue_ns_ = 0;
  std::array<Step, kGroup> group_ = {};
  std::array<size_t, kGroup> group_places_ = {};  // In recent_.
  size_t in_group_ = 0;
  std::array<BasicLogHistogram<Cell>, 4> times_;  // Times of calls, by WaitKind.
  std::array<Step, kRecent> recent_ = {};
};

}  // namespace headpond::internal

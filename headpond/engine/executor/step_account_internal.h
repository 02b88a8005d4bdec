// SPDX-License-Identifier: Apache-2.0
// Where the time of steps goes: in calls of next(), by what made them wait, and in the program between them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headpond/engine/loader_stats.h"

namespace headpond::internal {

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

  void end_group();

  Kind kind_ = Kind::none;  // Kind of the call that ended last.
  bool is_starting_ = true, is_edge_ = false;
  int64_t calls_ = 0, counted_ = 0, edges_ = 0;
  StepStats stats_;
  double startup_work_ns_ = 0;
  double helped_ns_ = 0;  // Tasks in the call that ended last, or is in progress.
  double measured_ns_ = 0, cpu_ns_ = 0, looked_ns_ = 0, queue_ns_ = 0;
  std::array<Step, kGroup> group_ = {};
  size_t in_group_ = 0;
  std::array<Step, kRecent> recent_ = {};
};

}  // namespace headpond::internal

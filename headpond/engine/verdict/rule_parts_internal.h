// SPDX-License-Identifier: Apache-2.0
// What rules share, and the rules themselves. Their order: rules.cc.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "headpond/engine/verdict/rules_internal.h"

namespace headpond::internal::rule {

using Holds = std::optional<Finding>;

// ---- of the run, before a stage is looked for (run_rules.cc)

Holds stalled(const Question& q);
Holds too_short(const Question& q);
Holds oversubscribed_by_pool(const Question& q);
Holds startup(const Question& q);
Holds device_bound(const Question& q);
Holds machine_busy(const Question& q);
Holds epoch_edge(const Question& q);
Holds memory_limited(const Question& q);

// ---- of the limiting stage: there is one (stage_rules.cc)

Holds oversubscribed_by_teams(const Question& q);
Holds interpreters_lock(const Question& q);
Holds user_lock(const Question& q);
Holds user_lock_in_part(const Question& q);
Holds single_file(const Question& q);
Holds serial_stage(const Question& q);
Holds slow_batch_function(const Question& q);
Holds window_too_small(const Question& q);
Holds bandwidth_bound(const Question& q);
Holds latency_bound(const Question& q);
Holds cpu_bound(const Question& q);
Holds processors_used_up(const Question& q);
Holds computes_and_waits(const Question& q);
Holds single_file_mostly(const Question& q);
Holds serial_stage_mostly(const Question& q);

// ---- if no other holds (run_rules.cc)

Holds nothing_in_particular(const Question& q);

// ---- what they look at

inline constexpr double kLeastGain = 1.05;  // Less is not worth telling.
inline constexpr int64_t kLeastSteps = 20;
inline constexpr double kLeastSeconds = 2, kNoWait = 0.05, kMostIoThreads = 256;
inline constexpr double kCopyBytesPerNs = 4;  // Speed of memory.

inline double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

inline double seconds(double ns) { return 1e-9 * ns; }

inline bool waits_little(const Question& q) { return q.figures.wait_share() < kNoWait; }

inline Evidence waiting(const Question& q) { return {"wait share", q.figures.wait_share(), kNoWait}; }

inline const TaskTimes& make_of(const Question& q) { return q.limiting->totals.make; }

inline double blocked_share(const TaskTimes& times) { return share(times.blocked_ns, times.wall_ns); }

// The share of all stages' work in which it waited for a processor.
inline double queue_share(const Figures& figures) {
  double queue = 0, all = 0;
  for (const StageFigures& stage : figures.stages) {
    queue += stage.totals.open.queue_ns + stage.totals.make.queue_ns;
    all += stage.totals.open.wall_ns + stage.totals.make.wall_ns;
  }
  return share(queue, all);
}

// What tasks and the step compute, of what all processors can; a little is always lost between tasks.
inline constexpr double kUsedUp = 0.8;

inline double used_share(const Question& q) {
  return share(q.model.cpu + q.model.program_cpu, q.figures.processors / std::max(measured_rate(q.figures), 1e-9));
}

// Processors are what is missing, not calls that wait at once.
inline bool are_processors_used_up(const Question& q) {
  const Model& m = q.model;
  return used_share(q) > kUsedUp &&
         (m.cpu + m.program_cpu) / std::max(m.processors, 1.0) >= m.blocked / std::max(m.may_block, 1.0);
}

// The share of the time that the threads work, all stages together.
inline double busy_share(const Question& q) {
  const Figures& f = q.figures;
  double busy_ns = f.work_ns * std::max(f.program_cpu_share, 0.0);
  for (const StageFigures& stage : f.stages) busy_ns += stage.totals.open.wall_ns + stage.totals.make.wall_ns;
  return share(busy_ns, f.time_ns * q.model.processors);
}

// Of its time without waits for a processor, how much a stage computes.
inline double compute_share(const StageTotals& totals) {
  const double cpu_ns = totals.open.cpu_ns + totals.make.cpu_ns;
  return share(cpu_ns, cpu_ns + totals.open.blocked_ns + totals.make.blocked_ns);
}

inline constexpr double kCrowded = 0.77, kNotCrowded = 0.38;  // Twice the calls: each 1.7, 1.3 times as long.

// A call takes nearly twice as long with twice as many.
inline bool is_crowded(const StageFigures& stage) { return stage.crowding.value_or(0) >= kCrowded; }

// Whether tasks that are blocked in a futex wait for each other. They may as well wait for what others bring them, a
// library's own threads say. One that holds a lock is not blocked in it itself, and more of them do not get done
// sooner: where that was seen the Loader lets few of them run, and all but one wait in the lock.
inline bool waits_in_a_lock(const StageFigures& stage, double inside) {
  constexpr double kLocked = 0.5, kOfTheOthers = 0.7;
  const double others = 1 - 1 / std::max(inside, 1.0);
  const double least = is_crowded(stage) ? std::min(kLocked, kOfTheOthers * others) : kLocked;
  if (share(stage.seen_locked, stage.seen_blocked) <= least) return false;
  if (is_crowded(stage)) return true;
  if (stage.crowding && *stage.crowding < kNotCrowded) return false;
  return share(stage.seen_locked, stage.seen) <= 1 - 0.5 / std::max(inside, 1.0);
}

// The change, with the gain of the altered model.
template <class Alter>
Change change(const Question& q, std::string what, std::string setting, std::string value, Alter alter) {
  Model altered = q.model;
  alter(altered);
  return {std::move(what), std::move(setting), std::move(value), gain_of(q.figures, q.model, altered)};
}

// The same for a limit that the model does not know. The measured rate stands for that limit, which `alter` removes;
// the model's own limits remain.
template <class Alter>
Change change_of_what_is_measured(const Question& q, std::string what, std::string setting, std::string value,
                                  Alter alter) {
  Model now = q.model;
  now.blocked = 0;
  now.serial = 1 / std::max(measured_rate(q.figures), 1e-9);
  return change({q.figures, q.limiting, now}, std::move(what), std::move(setting), std::move(value), [&](Model& m) {
    m.blocked = q.model.blocked;
    m.serial = q.model.serial;
    alter(m);
  });
}

}  // namespace headpond::internal::rule

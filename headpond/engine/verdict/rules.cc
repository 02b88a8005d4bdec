// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "headpond/engine/verdict/rules_internal.h"

namespace headpond::internal {
namespace {

using Holds = std::optional<Finding>;

constexpr int64_t kLeastSteps = 20;
constexpr double kLeastSeconds = 2, kNoWait = 0.05, kMostIoThreads = 256;
constexpr double kCopyBytesPerNs = 4;  // Speed of memory.

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

double seconds(double ns) { return 1e-9 * ns; }

bool waits_little(const Question& q) { return q.figures.wait_share() < kNoWait; }

Evidence waiting(const Question& q) { return {"wait share", q.figures.wait_share(), kNoWait}; }

const TaskTimes& make_of(const Question& q) { return q.limiting->totals.make; }

double blocked_share(const TaskTimes& times) { return share(times.blocked_ns, times.wall_ns); }

// The share of all stages' work in which it waited for a processor.
double queue_share(const Figures& figures) {
  double queue = 0, all = 0;
  for (const StageFigures& stage : figures.stages) {
    queue += stage.totals.open.queue_ns + stage.totals.make.queue_ns;
    all += stage.totals.open.wall_ns + stage.totals.make.wall_ns;
  }
  return share(queue, all);
}

// What tasks and the step compute, of what all processors can; a little is always lost between tasks.
constexpr double kUsedUp = 0.8;

double used_share(const Question& q) {
  return share(q.model.cpu + q.model.program_cpu, q.figures.processors / std::max(measured_rate(q.figures), 1e-9));
}

// Processors are what is missing, not calls that wait at once.
bool are_processors_used_up(const Question& q) {
  const Model& m = q.model;
  return used_share(q) > kUsedUp &&
         (m.cpu + m.program_cpu) / std::max(m.processors, 1.0) >= m.blocked / std::max(m.may_block, 1.0);
}

// The share of the time that the threads work, all stages together.
double busy_share(const Question& q) {
  const Figures& f = q.figures;
  double busy_ns = f.work_ns * std::max(f.program_cpu_share, 0.0);
  for (const StageFigures& stage : f.stages) busy_ns += stage.totals.open.wall_ns + stage.totals.make.wall_ns;
  return share(busy_ns, f.time_ns * q.model.processors);
}

// Of its time without waits for a processor, how much a stage computes.
double compute_share(const StageTotals& totals) {
  const double cpu_ns = totals.open.cpu_ns + totals.make.cpu_ns;
  return share(cpu_ns, cpu_ns + totals.open.blocked_ns + totals.make.blocked_ns);
}

constexpr double kCrowded = 0.77, kNotCrowded = 0.38;  // Twice the calls: each 1.7, 1.3 times as long.

// Whether tasks that are blocked in a futex wait for each other. They may as well wait for what others bring them, a
// library's own threads say. One that holds a lock is not blocked in it itself, and more of them do not get done
// sooner.
bool waits_in_a_lock(const StageFigures& stage, double inside) {
  constexpr double kLocked = 0.5;
  if (share(stage.seen_locked, stage.seen_blocked) <= kLocked) return false;
  if (stage.crowding && *stage.crowding >= kCrowded) return true;
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

// ---- before a stage is looked for

Holds stalled(const Question& q) {
  if (!q.figures.is_stalled) return std::nullopt;
  return Finding{
      .findings = {q.figures.stalled_in.empty() ? "no thread of the Loader is in a task" : q.figures.stalled_in}};
}

Holds too_short(const Question& q) {
  const Figures& f = q.figures;
  const double passed = seconds(f.time_ns);
  if (f.steps >= kLeastSteps && passed >= kLeastSeconds) return std::nullopt;
  return Finding{.evidence = {{"steps after the start", static_cast<double>(f.steps), kLeastSteps},
                              {"seconds after the start", passed, kLeastSeconds}},
                 .findings = {fmt::format("too little was seen: {} steps in {:.1f} s after the start; {} steps and "
                                          "{:.0f} s are needed",
                                          f.steps, passed, kLeastSteps, kLeastSeconds)}};
}

Holds oversubscribed_by_pool(const Question& q) {
  constexpr double kMost = 0.05, kOthers = 0.1;
  const Figures& f = q.figures;
  const bool by_others = f.others > kOthers * f.processors;
  if (!waits_little(q) || f.program_queue_share <= kMost || by_others) return std::nullopt;
  // The pool took the processor only if it computed for at least as long.
  const double queue = f.program_queue_share * q.model.program;
  if (q.model.cpu < queue) return std::nullopt;
  Finding finding{
      .evidence = {{"share of the step in which it waits for a processor", f.program_queue_share, kMost},
                   {"processor time of the Loader's threads, over that waiting time", q.model.cpu / queue, 1}}};
  if (f.threads <= 1) return finding;
  finding.changes.push_back({"use one compute thread less", "threads", fmt::format("{}", std::max(f.threads - 1, 1)),
                             1 / (1 - std::min(f.program_queue_share, 0.9))});
  return finding;
}

Holds startup(const Question& q) {
  constexpr double kShare = 0.2, kSeconds = 60;
  const Figures& f = q.figures;
  const double of_run = share(f.startup_ns, f.startup_ns + f.startup_work_ns + f.time_ns);
  if (!waits_little(q) || (of_run <= kShare && seconds(f.startup_ns) <= kSeconds)) return std::nullopt;
  const Evidence by_share{"share of the run before the first batches", of_run, kShare};
  const Evidence by_time{"seconds before the first batches", seconds(f.startup_ns), kSeconds};
  return Finding{
      .evidence = {of_run > kShare ? by_share : by_time},
      .findings = {fmt::format("the first batches took {:.1f} s, once; later ones were ready", seconds(f.startup_ns))}};
}

Holds device_bound(const Question& q) {
  if (!waits_little(q)) return std::nullopt;
  return Finding{.evidence = {waiting(q)},
                 .findings = {fmt::format("a perfect input would save {:.1f} % of the time at most",
                                          100 * q.figures.wait_share())}};
}

Holds machine_busy(const Question& q) {
  constexpr double kOthers = 0.1, kIdle = 0.05, kQueue = 0.1;
  const Figures& f = q.figures;
  const double others = share(f.others, f.processors), idle = share(f.idle, f.processors);
  if (f.others < 0 || f.idle < 0 || others <= kOthers || idle >= kIdle) return std::nullopt;
  // Others do no harm where each thread of this run finds a processor.
  const double queue = std::max(queue_share(f), f.program_queue_share);
  if (queue <= kQueue) return std::nullopt;
  return Finding{.evidence = {{"share of the processors that others use", others, kOthers},
                              {"share of the processors that is idle", idle, kIdle},
                              {"share of the time in which threads of this run wait for a processor", queue, kQueue}},
                 .findings = {fmt::format("other processes, or the host of this machine, have {:.1f} of the {} "
                                          "processors: end them, or let this run have processors of its own",
                                          f.others, f.processors)}};
}

Holds epoch_edge(const Question& q) {
  constexpr double kShare = 0.5;
  const Figures& f = q.figures;
  const double edges = share(f.kinds.edge_ns, f.call_ns);
  if (f.edges < 2 || edges <= kShare) return std::nullopt;
  Finding finding{.evidence = {{"share of the wait at the beginning of epochs", edges, kShare}}};
  Change one{"make the epochs one: repeat() below shuffle or batch, instead of epochs of the Loader", "", ""};
  one.gain = 1 / std::max(1 - share(f.kinds.edge_ns, f.time_ns), 0.01);
  finding.changes.push_back(std::move(one));
  return finding;
}

Holds memory_limited(const Question& q) {
  constexpr double kRefused = 0.1, kSometimesRefused = 0.01, kHeld = 0.5, kSwapped = 10;
  const Figures& f = q.figures;
  double refused = 0;
  for (const StageFigures& stage : f.stages) refused = std::max(refused, share(stage.totals.refused_ns, f.time_ns));
  // What the program holds limits nothing as long as what is made ahead has room; above half of the memory that is one
  // batch.
  const double held = share(f.held_by_program, f.memory);
  const bool by_program = held > kHeld && refused > kSometimesRefused;
  if (refused <= kRefused && !by_program && f.swapped_per_s <= kSwapped) return std::nullopt;
  Finding finding{.evidence = {{"share of the time without memory for more", refused, kRefused},
                               {"share of the memory that the program holds", held, kHeld}}};
  if (f.swapped_per_s > kSwapped) {
    finding.evidence.push_back({"pages read back from swap, a second", f.swapped_per_s, kSwapped});
    finding.findings.push_back("the machine swaps: make less ahead, or use less memory elsewhere");
    return finding;
  }
  finding.findings.push_back(
      fmt::format("{:.1f} MB are allowed; a batch takes {:.1f} MB, and the program holds {:.1f} MB", 1e-6 * f.memory,
                  1e-6 * f.batch_bytes, 1e-6 * f.held_by_program));
  Change more{held > kHeld ? "let go of batches earlier, or allow more memory" : "allow more memory", "memory",
              fmt::format("{:.0f}", 2 * f.memory)};
  more.gain = 1 / std::max(1 - std::min(f.wait_share(), refused), 0.01);
  finding.changes.push_back(std::move(more));
  return finding;
}

// ---- of the limiting stage

// With one thread, tasks do the library's computing themselves. Kernel time counts as the cost of its threads
// (creating, waking, switching) and goes away, except for as much as the Loader's own threads may have used.
Change without_teams(const Question& q) {
  const Figures& f = q.figures;
  const double foreign = std::max(f.process_cpus_in_waits - f.own_cpus_in_waits, 0.0);
  const double by_system = std::clamp(f.system_cpus_in_waits - f.own_cpus_in_waits, 0.0, foreign);
  return change_of_what_is_measured(q, "let the library inside compute with one thread", "", "1", [&](Model& m) {
    m.cpu = (f.own_cpus_in_waits + foreign - by_system) / std::max(measured_rate(f), 1e-9);
    if (seconds(f.per_step(make_of(q).blocked_ns + make_of(q).cpu_ns)) >= m.blocked) m.blocked = 0;
  });
}

Holds oversubscribed_by_teams(const Question& q) {
  constexpr double kRatio = 1.3, kForeign = 0.1, kQueue = 0.1, kFull = 0.9;
  const Figures& f = q.figures;
  if (q.limiting == nullptr || f.own_cpus_in_waits <= 0 || f.process_cpus_in_waits <= 0) return std::nullopt;
  const double ratio = f.process_cpus_in_waits / f.own_cpus_in_waits;
  const double foreign = 1 - 1 / std::max(ratio, 1.0);
  const double queue = share(make_of(q).queue_ns, make_of(q).wall_ns);
  const double full = share(f.process_cpus_in_waits + std::max(f.others, 0.0), f.processors);
  const bool by_teams = ratio > kRatio && (queue > kQueue || full > kFull),
             by_some = foreign > kForeign && queue > kQueue;
  if (!by_teams && !by_some) return std::nullopt;
  const Evidence more =
      by_teams ? Evidence{"processor time of the process over that of the Loader's threads", ratio, kRatio}
               : Evidence{"share of the process's processor time that is not the Loader's", foreign, kForeign};
  const Evidence lack = queue > kQueue ? Evidence{"share of tasks in which they wait for a processor", queue, kQueue}
                                       : Evidence{"share of the processors that is in use", full, kFull};
  return Finding{
      .evidence = {more, lack},
      .changes = {without_teams(q)},
      .findings = {
          "if the library's threads spin while they wait, one thread for it gains more than a forecast tells"}};
}

// One task at a time, as many steps as there are: what they would be if tasks did not wait for each other.
Change without_the_lock(const Question& q) {
  return change_of_what_is_measured(q, "hold the lock for less time, or avoid it", "", "",
                                    [](Model& m) { m.blocked = 0; });
}

// Measured, and not concluded from what threads were seen to do. Fewer waits suffice where the stage and the program's
// step together compute as much as one thread can: then some thread has the lock nearly all the time.
Holds interpreters_lock(const Question& q) {
  constexpr double kWaits = 0.25, kFewWaits = 0.1, kOneThread = 0.15;
  // One that waits for a processor while it has the lock makes others wait for the lock.
  if (q.limiting == nullptr || are_processors_used_up(q)) return std::nullopt;
  const Figures& f = q.figures;
  const StageTotals& totals = q.limiting->totals;
  const double waits = share(totals.open.lock_ns + totals.make.lock_ns, totals.open.wall_ns + totals.make.wall_ns);
  const double program_ns = f.work_ns * std::max(f.program_cpu_share, 0.0);
  const double run = share(totals.open.cpu_ns + totals.make.cpu_ns + program_ns, f.time_ns);
  const double most = std::abs(run - 1) < kOneThread ? kFewWaits : kWaits;
  if (waits <= most) return std::nullopt;
  return Finding{.evidence = {{"share of tasks in which they wait for the interpreter's lock", waits, most},
                              {"computing threads, the step included (the lock allows one)", run, 0}},
                 .changes = {without_the_lock(q)},
                 .findings = {"functions of Python run one at a time, and not while the program itself runs Python; "
                              "Headpond's own steps, and functions that release the lock, run in parallel"}};
}

// A task that holds a lock runs or sleeps, and the others wait for it.
Holds user_lock(const Question& q) {
  constexpr double kInside = 1.5, kRun = 1.15, kBlocked = 0.25;
  if (q.limiting == nullptr) return std::nullopt;
  const double time = q.figures.time_ns;
  const double inside = share(make_of(q).wall_ns, time), run = share(make_of(q).cpu_ns, time);
  const double locked = share(q.limiting->seen_locked, q.limiting->seen_blocked);
  if (inside < kInside || run > kRun || blocked_share(make_of(q)) <= kBlocked) return std::nullopt;
  if (!waits_in_a_lock(*q.limiting, inside)) return std::nullopt;
  return Finding{.evidence = {{"tasks at once", inside, kInside},
                              {"of these, that compute", run, kRun},
                              {"share of blocked tasks that are in a lock", locked, 0.5}},
                 .changes = {without_the_lock(q)}};
}

// Tasks that hold a lock for a part of their time only: they compute side by side for the rest. Most likely a task that
// is blocked in a futex waits for another one, if no other thread of the process computes; but it may wait for a thread
// that waits itself, for an answer from the network, say.
Holds user_lock_in_part(const Question& q) {
  constexpr double kInside = 1.5, kBlocked = 0.25, kForeign = 0.1;
  const Figures& f = q.figures;
  if (q.limiting == nullptr || f.own_cpus_in_waits < 0 || f.process_cpus_in_waits <= 0) return std::nullopt;
  const double inside = share(make_of(q).wall_ns, f.time_ns), blocked = blocked_share(make_of(q));
  const double foreign = share(f.process_cpus_in_waits - f.own_cpus_in_waits, f.process_cpus_in_waits);
  if (inside < kInside || blocked <= kBlocked || foreign > kForeign) return std::nullopt;
  if (!waits_in_a_lock(*q.limiting, inside)) return std::nullopt;
  const double locked = share(q.limiting->seen_locked, q.limiting->seen_blocked);
  return Finding{.evidence = {{"share of tasks that is blocked", blocked, kBlocked},
                              {"share of blocked tasks that are in a lock", locked, 0.5},
                              {"tasks at once", inside, kInside}},
                 .changes = {without_the_lock(q)}};
}

std::optional<double> serial_busy(const Question& q) {
  constexpr double kBusy = 0.9;
  if (q.limiting == nullptr) return std::nullopt;
  const double busy = share(q.limiting->totals.open.wall_ns, q.figures.time_ns);
  return busy > kBusy ? std::optional(busy) : std::nullopt;
}

Holds single_file(const Question& q) {
  const auto busy = serial_busy(q);
  if (!busy || !q.limiting->has_one_file) return std::nullopt;
  const double needed = share(q.model.serial, std::max(q.model.program, 1e-9));
  const int shards = static_cast<int>(std::clamp(std::ceil(needed), 2.0, 64.0));
  return Finding{.evidence = {{"share of the time in which its one thread works", *busy, 0.9}, {"files", 1, 0}},
                 .changes = {change(q, fmt::format("write the data into {} files (headpond convert)", shards), "shards",
                                    fmt::format("{}", shards), [&](Model& m) { m.serial /= shards; })}};
}

Holds serial_stage(const Question& q) {
  const auto busy = serial_busy(q);
  if (!busy) return std::nullopt;
  return Finding{.evidence = {{"share of the time in which its one thread works", *busy, 0.9}},
                 .changes = {change(q, "move the work into a map after it, or use a source with positions", "", "",
                                    [](Model& m) { m.serial = 0; })}};
}

Holds slow_batch_function(const Question& q) {
  constexpr double kShare = 0.5;
  if (q.limiting == nullptr || !q.limiting->is_above_batch) return std::nullopt;
  double all = 0;
  for (const StageFigures& stage : q.figures.stages) all += stage.totals.open.wall_ns + stage.totals.make.wall_ns;
  const double own = share(q.limiting->totals.open.wall_ns + make_of(q).wall_ns, all);
  if (own <= kShare) return std::nullopt;
  const double copy_s = seconds(q.figures.batch_bytes / kCopyBytesPerNs);
  return Finding{.evidence = {{"share of all work that its function of batches does", own, kShare}},
                 .changes = {change(q, "if it only puts elements together, let batch do that, in place", "", "",
                                    [&](Model& m) {
                                      const double cpu = seconds(
                                          q.figures.per_step(q.limiting->totals.open.cpu_ns + make_of(q).cpu_ns));
                                      m.cpu = std::max(m.cpu - cpu, 0.0) + copy_s;
                                      m.blocked = 0;
                                    })},
                 .findings = {"if it does other work, that would take as long in a map below batch"}};
}

Holds window_too_small(const Question& q) {
  constexpr double kShare = 0.05;
  const Figures& f = q.figures;
  if (q.limiting == nullptr || !q.limiting->is_capped) return std::nullopt;
  const double full = share(q.limiting->totals.full_ns, f.time_ns);
  const double starved = share(q.limiting->totals.starved_ns, f.time_ns);
  if (full <= kShare || starved <= kShare) return std::nullopt;
  Finding finding{.evidence = {{"share of the time in which it is as far ahead as it may", full, kShare},
                               {"share of the time in which its consumer waits for it", starved, kShare}}};
  int64_t best = 0;
  double gain = 1;
  for (const int64_t ahead : {1, 2, 4, 8, 16, 32, 64}) {
    const double now = gain_of_window(f, *q.limiting, ahead);
    if (now < 1.02 * gain) continue;
    best = ahead;
    gain = now;
  }
  if (best > f.run_ahead) finding.changes.push_back({"prepare more ahead", "run_ahead", fmt::format("{}", best), gain});
  return finding;
}

Holds bandwidth_bound(const Question& q) {
  constexpr double kBlocked = 0.5;
  if (q.limiting == nullptr || !q.limiting->crowding) return std::nullopt;
  const double blocked = blocked_share(make_of(q)), longer = std::exp2(*q.limiting->crowding);
  if (*q.limiting->crowding <= kCrowded || blocked <= kBlocked) return std::nullopt;
  const double mb_s = 1e-6 * q.figures.batch_bytes * measured_rate(q.figures);
  const double read_mb_s =
      1e-6 * q.figures.per_step(static_cast<double>(q.limiting->totals.read_bytes)) * measured_rate(q.figures);
  Finding finding{.evidence = {{"how many times as long a call takes with twice as many", longer, 1.7},
                               {"share of tasks that is blocked", blocked, kBlocked}},
                  .findings = {fmt::format("{:.1f} MB of batches a second", mb_s)}};
  if (read_mb_s > 0) finding.findings[0] += fmt::format(", {:.1f} MB read from files", read_mb_s);
  const auto fewer = [&](Model& m) {
    m.blocked = 0;
    m.bandwidth = 0.5 / std::max(measured_rate(q.figures), 1e-9);
  };
  Model now = q.model;
  now.blocked = 0;
  now.bandwidth = 1 / std::max(measured_rate(q.figures), 1e-9);
  finding.changes.push_back(
      change({q.figures, q.limiting, now},
             "read half as many bytes: compression, a cache, or smaller types, which alter values", "", "", fewer));
  return finding;
}

Holds latency_bound(const Question& q) {
  constexpr double kBlocked = 0.5;
  if (q.limiting == nullptr) return std::nullopt;
  const double blocked = blocked_share(make_of(q)), inside = share(make_of(q).wall_ns, q.figures.time_ns);
  if (blocked <= kBlocked || q.limiting->crowding.value_or(0) >= kNotCrowded) return std::nullopt;
  if (are_processors_used_up(q)) return std::nullopt;  // More calls at once would wait for a processor.
  if (waits_in_a_lock(*q.limiting, inside)) return std::nullopt;
  Finding finding{.evidence = {{"share of tasks that is blocked", blocked, kBlocked}, {"tasks at once", inside, 0}}};
  const double enough = std::ceil(q.model.blocked / std::max({q.model.program, q.model.serial, 1e-6}));
  const double calls = std::clamp(enough, q.model.may_block + 1, std::max(kMostIoThreads, q.model.may_block + 1));
  const bool is_capped = q.limiting->is_capped && q.figures.io_ceiling > q.figures.io_threads;
  const char* const setting = is_capped ? "run_ahead" : "io_threads";
  const double value = is_capped ? static_cast<double>(2 * std::max<int64_t>(q.figures.run_ahead, 1)) : calls;
  finding.changes.push_back(change(q, "let more calls wait at once", setting, fmt::format("{:.0f}", value),
                                   [&](Model& m) { m.may_block = is_capped ? 2 * m.may_block : calls; }));
  return finding;
}

std::string size_text(double bytes) {
  return bytes < 1e6 ? fmt::format("{:.1f} kB", 1e-3 * bytes) : fmt::format("{:.0f} MB", 1e-6 * bytes);
}

std::string duration_text(double s) {
  return s < 60 ? fmt::format("{:.0f} s", std::max(s, 1.0)) : fmt::format("{:.1f} minutes", s / 60);
}

// Elements of an epoch that its first operators make; 0: unknown.
double elements_of(const StageFigures& stage) { return share(stage.prefix_bytes, stage.prefix_element_bytes); }

// The first operators draw no random number and are made again in each epoch: a cache after them, in memory or on disk,
// leaves them out, and its bytes are copied instead.
void add_cache(const Question& q, std::vector<Change>& changes) {
  constexpr double kDiskBytesPerNs = 0.5;
  const StageFigures& stage = *q.limiting;
  if (!q.figures.repeats) return;
  const double budget = q.figures.memory / 2;
  if (stage.prefix_bytes < 0 || stage.prefix_operators == 0 || stage.operators.empty()) return;
  double all = 0, prefix = 0;
  for (size_t i = 0; i < stage.operators.size(); ++i) {
    all += stage.operators[i].ns;
    prefix += std::cmp_less(i, stage.prefix_operators) ? stage.operators[i].ns : 0;
  }
  if (all <= 0 || prefix <= 0) return;
  const auto last = static_cast<size_t>(std::min<int64_t>(stage.prefix_operators, std::ssize(stage.operators)) - 1);
  const bool in_memory = stage.prefix_bytes <= budget;
  const double make_s = seconds(prefix * elements_of(stage)) / std::max(q.model.processors, 1.0);
  const double write_s = std::max(make_s, seconds(stage.prefix_bytes / kDiskBytesPerNs));
  const bool is_told = !in_memory && elements_of(stage) > 0;
  std::string what = fmt::format("{} after {} ({} that each epoch makes again{})", in_memory ? "a cache" : "a snapshot",
                                 name_of(stage.operators[last]).for_people(), size_text(stage.prefix_bytes),
                                 is_told ? fmt::format("; written once, in {}", duration_text(write_s)) : "");
  const double own = seconds(q.figures.per_step(stage.totals.open.cpu_ns + stage.totals.make.cpu_ns));
  const double elements = q.figures.per_step(static_cast<double>(stage.totals.elements));
  const double read = stage.prefix_element_bytes * elements;
  changes.push_back(change(q, std::move(what), "", "", [&](Model& m) {
    m.cpu = std::max(m.cpu - own * prefix / all, 0.0) + seconds(read / kCopyBytesPerNs);
    if (!in_memory) m.bandwidth = std::max(m.bandwidth, seconds(read / kDiskBytesPerNs));
  }));
}

void add_processors(const Question& q, std::vector<Change>& changes) {
  const Figures& f = q.figures;
  if (f.threads < f.processors) {
    changes.push_back(change(q, "let all processors compute", "threads", fmt::format("{}", f.processors),
                             [&](Model& m) { m.processors = f.processors; }));
    return;
  }
  changes.push_back(
      change(q, "one more processor", "", fmt::format("{}", f.processors + 1), [](Model& m) { m.processors += 1; }));
}

Holds cpu_bound(const Question& q) {
  constexpr double kCpu = 0.8, kBusy = 0.9;
  if (q.limiting == nullptr) return std::nullopt;
  const double cpu = compute_share(q.limiting->totals), busy = busy_share(q);
  if (cpu <= kCpu || (busy <= kBusy && q.figures.threads > 0)) return std::nullopt;
  Finding finding{.evidence = {{"share of its time that the stage computes", cpu, kCpu},
                               {"share of the time that threads work", busy, kBusy}}};
  add_cache(q, finding.changes);
  add_processors(q, finding.changes);
  return finding;
}

// Tasks wait, too, but the processors have nothing left.
Holds processors_used_up(const Question& q) {
  constexpr double kOnlyComputes = 0.8;
  if (q.limiting == nullptr || !are_processors_used_up(q)) return std::nullopt;
  const double cpu = compute_share(q.limiting->totals);
  if (cpu > kOnlyComputes) return std::nullopt;  // cpu_bound() has decided.
  Finding finding{
      .evidence = {{"share of the processors' time that tasks and the step compute", used_share(q), kUsedUp},
                   {"share of its time that the stage computes", cpu, 0}}};
  add_cache(q, finding.changes);
  add_processors(q, finding.changes);
  return finding;
}

// The compute threads are always in a task, which computes for most of its time and waits for the rest: while it waits,
// its processor has nothing to do.
Holds computes_and_waits(const Question& q) {
  constexpr double kCpu = 0.5, kBusy = 0.9, kBlocked = 0.1;
  if (q.limiting == nullptr || q.figures.threads <= 0) return std::nullopt;
  const double inside = share(make_of(q).wall_ns, q.figures.time_ns);
  if (inside > q.figures.threads + 0.5) return std::nullopt;  // It has I/O threads.
  const double cpu = compute_share(q.limiting->totals), busy = busy_share(q);
  if (cpu < kCpu || busy <= kBusy || blocked_share(make_of(q)) <= kBlocked) return std::nullopt;
  Finding finding{.evidence = {{"share of its time that the stage computes", cpu, kCpu},
                               {"share of the time that threads work", busy, kBusy}},
                  .changes = {change_of_what_is_measured(q, "let other tasks compute while one waits", "blocking",
                                                         "true", [](Model&) {})}};
  add_cache(q, finding.changes);
  return finding;
}

// Where to look, though no rule says what is wrong there.
std::string where_it_waits(const StageFigures& stage) {
  const TaskTimes &open = stage.totals.open, &make = stage.totals.make;
  const double all = open.wall_ns + make.wall_ns;
  const auto percent = [&](double ns) { return 100 * share(ns, all); };
  return fmt::format(
      "the program waits for {}, in which {} takes most; of the time of its threads it computes {:.0f} %, sleeps "
      "{:.0f} %, and waits for a processor {:.0f} %",
      stage.name, top_operator(stage).for_people(), percent(open.cpu_ns + make.cpu_ns),
      percent(open.blocked_ns + make.blocked_ns), percent(open.queue_ns + make.queue_ns));
}

std::string bursts_of(const Figures& f) {
  double longest_ns = 0;
  for (const Figures::Step& step : f.recent) longest_ns = std::max(longest_ns, step.call_ns);
  return fmt::format(
      "most of the wait comes in bursts, the longest of the last {} steps {:.0f} ms: single elements take long",
      f.recent.size(), 1e-6 * longest_ns);
}

Holds nothing_in_particular(const Question& q) {
  const Figures& f = q.figures;
  std::vector<Evidence> all = {waiting(q)};
  for (const StageFigures& stage : f.stages) {
    all.push_back(
        {"tasks at once in " + stage.name, share(stage.totals.open.wall_ns + stage.totals.make.wall_ns, f.time_ns), 0});
    all.push_back({"share of the time in which the consumer of " + stage.name + " waits",
                   share(stage.totals.starved_ns, f.time_ns), 0});
  }
  std::sort(all.begin(), all.end(), [](const Evidence& a, const Evidence& b) { return a.value > b.value; });
  all.resize(std::min<size_t>(all.size(), 3));
  Finding finding{.evidence = std::move(all),
                  .findings = {"nothing in particular limits: these are the largest figures"}};
  if (f.kinds.burst_ns > f.call_ns / 2) finding.findings.push_back(bursts_of(f));
  if (q.limiting != nullptr) finding.findings.push_back(where_it_waits(*q.limiting));
  return finding;
}

constexpr std::array kRules = {Rule{ReasonCode::stalled, Sureness::stated, stalled},
                               Rule{ReasonCode::none, Sureness::stated, too_short},
                               Rule{ReasonCode::oversubscribed, Sureness::figures, oversubscribed_by_pool},
                               Rule{ReasonCode::startup, Sureness::figures, startup},
                               Rule{ReasonCode::device_bound, Sureness::figures, device_bound},
                               Rule{ReasonCode::machine_busy, Sureness::figures, machine_busy},
                               Rule{ReasonCode::epoch_edge, Sureness::figures, epoch_edge},
                               Rule{ReasonCode::memory_limited, Sureness::figures, memory_limited},
                               Rule{ReasonCode::oversubscribed, Sureness::figures, oversubscribed_by_teams},
                               Rule{ReasonCode::user_lock, Sureness::figures, interpreters_lock},
                               Rule{ReasonCode::user_lock, Sureness::figures, user_lock},
                               Rule{ReasonCode::single_file, Sureness::by_model, single_file},
                               Rule{ReasonCode::serial_stage, Sureness::by_model, serial_stage},
                               Rule{ReasonCode::slow_batch_function, Sureness::by_model, slow_batch_function},
                               Rule{ReasonCode::window_too_small, Sureness::figures, window_too_small},
                               Rule{ReasonCode::bandwidth_bound, Sureness::figures, bandwidth_bound},
                               Rule{ReasonCode::latency_bound, Sureness::by_model, latency_bound},
                               Rule{ReasonCode::cpu_bound, Sureness::by_model, cpu_bound},
                               // What no rule above says, as two of them hold in part.
                               Rule{ReasonCode::cpu_bound, Sureness::by_model, processors_used_up},
                               Rule{ReasonCode::user_lock, Sureness::by_model, user_lock_in_part},
                               Rule{ReasonCode::cpu_bound, Sureness::by_model, computes_and_waits},
                               Rule{ReasonCode::none, Sureness::stated, nothing_in_particular}};

}  // namespace

std::span<const Rule> rules() { return kRules; }

// If no stage is waited for, the program may wait although its batch is ready: for the interpreter's lock. Then the
// stage counts whose functions wait longest for that lock.
const StageFigures* limiting_stage(const Figures& figures) {
  const StageFigures* found = nullptr;
  const StageFigures* locked = nullptr;
  for (const StageFigures& stage : figures.stages) {
    if (stage.totals.starved_ns > figures.call_ns / 2) found = &stage;
    if (locked == nullptr || stage.totals.make.lock_ns > locked->totals.make.lock_ns) locked = &stage;
  }
  return found != nullptr ? found : locked;
}

OperatorName top_operator(const StageFigures& stage) {
  const OperatorCost* most = nullptr;
  for (const OperatorCost& one : stage.operators) most = most == nullptr || one.ns > most->ns ? &one : most;
  if (most != nullptr) return name_of(*most);
  const StageTotals& totals = stage.totals;  // The source opens, what is applied to its elements makes.
  return totals.open.wall_ns > totals.make.wall_ns && !stage.serial.op.empty() ? stage.serial : stage.top;
}

Question question_of(const Figures& figures) { return {figures, limiting_stage(figures), model_of(figures)}; }

}  // namespace headpond::internal

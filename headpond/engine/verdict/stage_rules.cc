// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headpond/engine/verdict/rule_parts_internal.h"

namespace headpond::internal::rule {

namespace {

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

}  // namespace

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

namespace {

// One task at a time, as many steps as there are: what they would be if tasks did not wait for each other.
Change without_the_lock(const Question& q) {
  return change_of_what_is_measured(q, "hold the lock for less time, or avoid it", "", "",
                                    [](Model& m) { m.blocked = 0; });
}

}  // namespace

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
  constexpr double kRun = 1.15, kBlocked = 0.25;
  if (q.limiting == nullptr) return std::nullopt;
  const double time = q.figures.time_ns, least = is_crowded(*q.limiting) ? 1.05 : 1.5;
  const double inside = share(make_of(q).wall_ns, time), run = share(make_of(q).cpu_ns, time);
  const double locked = share(q.limiting->seen_locked, q.limiting->seen_blocked);
  if (inside < least || run > kRun || blocked_share(make_of(q)) <= kBlocked) return std::nullopt;
  if (!waits_in_a_lock(*q.limiting, inside)) return std::nullopt;
  return Finding{.evidence = {{"tasks at once", inside, least},
                              {"of these, that compute", run, kRun},
                              {"share of blocked tasks that are in a lock", locked, is_crowded(*q.limiting) ? 0 : 0.5}},
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

namespace {

// The longest part on one thread at a time of the other stages, in seconds a step.
double serial_of_others(const Question& q) {
  const double own = seconds(q.figures.per_step(q.limiting->totals.open.cpu_ns + q.limiting->totals.open.blocked_ns));
  return own >= q.model.serial ? q.model.next_serial : q.model.serial;
}

// Of datasets that a function makes, each with a thread of its own, it is not known.
double serial_share(const Question& q) {
  return q.limiting->is_made ? 0 : share(q.limiting->totals.open.wall_ns, q.figures.time_ns);
}

std::optional<Evidence> is_busy(const Question& q) {
  constexpr double kBusy = 0.9;
  if (q.limiting == nullptr || serial_share(q) <= kBusy) return std::nullopt;
  return Evidence{"share of the time in which its one thread works", serial_share(q), kBusy};
}

// The stage has room and memory for more elements, and no other stage is slower. Its thread spends the rest of the time
// on passing elements on, or in the stage that takes them.
std::optional<Evidence> is_mostly_busy(const Question& q) {
  constexpr double kBusy = 0.6, kIdle = 0.15;
  if (q.limiting == nullptr || serial_share(q) <= kBusy) return std::nullopt;
  const StageTotals& totals = q.limiting->totals;
  if (share(totals.full_ns + totals.refused_ns, q.figures.time_ns) > kIdle) return std::nullopt;
  Model others = q.model;
  others.serial = 0;
  const double own = seconds(q.figures.per_step(totals.open.cpu_ns + totals.open.blocked_ns));
  if (own < q.model.serial || own * others.rate() < 1) return std::nullopt;
  return Evidence{"share of the time in which its one thread works", serial_share(q), kBusy};
}

Finding write_more_files(const Question& q, Evidence busy) {
  const double needed = share(q.model.serial, std::max(q.model.program, 1e-9));
  const int shards = static_cast<int>(std::clamp(std::ceil(needed), 2.0, 64.0));
  return {.evidence = {std::move(busy), {"files", 1, 0}},
          .changes = {change(q, fmt::format("write the data into {} files (headpond convert)", shards), "shards",
                             fmt::format("{}", shards),
                             [&](Model& m) { m.serial = std::max(m.serial / shards, serial_of_others(q)); })}};
}

Finding move_the_work(const Question& q, Evidence busy) {
  const TaskTimes& open = q.limiting->totals.open;
  const bool is_python = open.lock_ns > 0;  // To take the interpreter's lock takes a little time in any case.
  const char* const what = is_python ? "move the work into a map after it: what releases the interpreter's lock gains"
                                     : "move the work into a map after it, or use a source with positions";
  const auto moved_but = [&](double one_at_a_time) {
    return change(q, what, "", "", [&](Model& m) { m.serial = std::max(serial_of_others(q), one_at_a_time); });
  };
  Finding finding{.evidence = {std::move(busy)}, .changes = {moved_but(0)}};
  if (is_python) finding.sure_gain = moved_but(seconds(q.figures.per_step(open.cpu_ns))).gain;
  return finding;
}

}  // namespace

Holds single_file(const Question& q) {
  auto busy = is_busy(q);
  if (!busy || !q.limiting->has_one_file) return std::nullopt;
  return write_more_files(q, *std::move(busy));
}

Holds serial_stage(const Question& q) {
  auto busy = is_busy(q);
  if (!busy) return std::nullopt;
  return move_the_work(q, *std::move(busy));
}

Holds single_file_mostly(const Question& q) {
  auto busy = is_mostly_busy(q);
  if (!busy || !q.limiting->has_one_file) return std::nullopt;
  return write_more_files(q, *std::move(busy));
}

Holds serial_stage_mostly(const Question& q) {
  auto busy = is_mostly_busy(q);
  if (!busy) return std::nullopt;
  return move_the_work(q, *std::move(busy));
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
  if (best <= f.run_ahead) return std::nullopt;  // Not the ceiling limits how far ahead it is.
  finding.changes.push_back({"prepare more ahead", "run_ahead", fmt::format("{}", best), gain});
  return finding;
}

Holds bandwidth_bound(const Question& q) {
  constexpr double kBlocked = 0.5, kFewMbS = 1;  // Less is no limit of bytes.
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
             std::max(mb_s, read_mb_s) < kFewMbS
                 ? "make half as many calls, for twice as much each, or raise the limit that they share"
                 : "read half as many bytes: compression, a cache, or smaller types, which alter values",
             "", "", fewer));
  return finding;
}

namespace {

// The Loader starts I/O threads as it needs them, up to io_threads, for a function that waits. Where that was neither
// declared nor noticed, compute threads wait in it.
Change more_calls(const Question& q, double calls) {
  const Figures& f = q.figures;
  const char* const what = "let more calls wait at once";
  const auto with = [&](const char* setting, const std::string& value, double at_once) {
    return change(q, what, setting, value, [at_once](Model& m) { m.may_block = at_once; });
  };
  if (!q.limiting->is_blocking) return with("blocking", "true", std::min<double>(calls, std::max(f.io_ceiling, 1)));
  if (q.limiting->is_capped && f.io_ceiling > f.io_threads)
    return with("run_ahead", fmt::format("{}", 2 * std::max<int64_t>(f.run_ahead, 1)), 2 * q.model.may_block);
  return with("io_threads", fmt::format("{:.0f}", calls), calls > f.io_ceiling ? calls : q.model.may_block);
}

}  // namespace

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
  finding.changes.push_back(more_calls(q, calls));
  return finding;
}

namespace {

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

}  // namespace

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

}  // namespace headpond::internal::rule

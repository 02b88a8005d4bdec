// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headpond/engine/verdict/rule_parts_internal.h"

namespace headpond::internal::rule {

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
                 .findings = {fmt::format("{}: {} steps in {:.1f} s after the start; {} steps and {:.0f} s are needed",
                                          kTooLittleWasSeen, f.steps, passed, kLeastSteps, kLeastSeconds)}};
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
  const double without_edges = 1 / std::max(1 - share(f.kinds.edge_ns, f.time_ns), 0.01);
  one.gain = std::clamp(q.model.rate() / std::max(measured_rate(f), 1e-9), 1.0, without_edges);
  finding.changes.push_back(std::move(one));
  if (finding.changes[0].gain < kLeastGain)
    finding.findings.push_back("within an epoch the input is hardly faster, so one long epoch gains little");
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

namespace {

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

}  // namespace

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

}  // namespace headpond::internal::rule

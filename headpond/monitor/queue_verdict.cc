// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/queue_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "headpond/base/cpu.h"

namespace headpond {
namespace {

constexpr int64_t kLeastCalls = 20;
constexpr double kLeastNs = 2e9, kNoWait = 0.05, kLeastGain = 1.05;

// What the consumer did after its first call, and what the producers did meanwhile.
struct Case {
  const QueueStats& stats;
  const QueueSummary& summary;
  const QueueUse& use;
  double first_ns, wait_ns, work_ns, calls;

  double time_ns() const { return wait_ns + work_ns; }
  double wait_share() const { return time_ns() > 0 ? wait_ns / time_ns() : 0; }
  /// Share of the producers' time in which the queue was full.
  double full_share() const {
    const double all = static_cast<double>(std::max<int64_t>(use.producers, 1)) * (first_ns + time_ns());
    return all > 0 ? std::min(static_cast<double>(stats.enqueue_wait_ns) / all, 1.0) : 0;
  }
  /// How many times as fast, if `producers` of the same kind always had room.
  double gain_with(double producers) const {
    const double busy_ns = (1 - full_share()) * static_cast<double>(std::max<int64_t>(use.producers, 1)) * time_ns();
    const double now_ns = time_ns() / std::max(calls, 1.0);
    const double then_ns = std::max(work_ns, busy_ns / producers) / std::max(calls, 1.0);
    return std::max(now_ns / std::max(then_ns, 1.0), 1.0);
  }
};

bool is_too_short(const Case& c, Verdict& verdict) {
  if (c.calls >= kLeastCalls && c.time_ns() >= kLeastNs) return false;
  verdict.findings.push_back(
      fmt::format("{}: {:.0f} calls in {:.1f} s after the first one", kTooLittleWasSeen, c.calls, 1e-9 * c.time_ns()));
  return true;
}

bool hardly_waits(const Case& c, Verdict& verdict) {
  constexpr double kShare = 0.2, kLongSeconds = 60;
  if (c.wait_share() >= kNoWait) return false;
  const double first = c.first_ns / (c.first_ns + c.time_ns()), first_s = 1e-9 * c.first_ns;
  const bool is_share = first > kShare, is_long = first_s > kLongSeconds;
  verdict.code = is_share || is_long ? ReasonCode::startup : ReasonCode::device_bound;
  verdict.evidence.push_back(is_share  ? Evidence{"share of the run before the first batch", first, kShare}
                             : is_long ? Evidence{"seconds before the first batch", first_s, kLongSeconds}
                                       : Evidence{"wait share", c.wait_share(), kNoWait});
  return true;
}

void add(Verdict& verdict, Change change, double gain) {
  if (gain < kLeastGain) return;
  change.gain = gain;
  change.low = 1 + 0.8 * (gain - 1);
  change.high = 1 + 1.2 * (gain - 1);
  verdict.changes.push_back(std::move(change));
}

// What the minimum alone takes of the memory: a lot where elements are decoded already.
double memory_share_of_minimum(const Case& c) {
  const double memory = c.use.memory >= 0 ? static_cast<double>(c.use.memory) : static_cast<double>(usable_memory());
  if (c.stats.size_peak <= 0 || memory <= 0) return 0;
  const double element = static_cast<double>(c.stats.bytes_peak) / static_cast<double>(c.stats.size_peak);
  return static_cast<double>(c.stats.min_after_dequeue) * element / memory;
}

bool holds_back(const Case& c, Verdict& verdict) {
  constexpr double kShare = 0.5, kMostMemory = 0.5;
  const int64_t room = c.stats.capacity - c.stats.min_after_dequeue;
  const double kept = memory_share_of_minimum(c);
  const bool is_tight = c.stats.capacity >= 0 && room < 2 * c.use.batch;
  const bool is_heavy = kept > kMostMemory;
  if (c.stats.min_after_dequeue <= 0 || c.summary.held_back_share <= kShare) return false;
  if (!is_tight && !is_heavy) return false;
  verdict.code = ReasonCode::min_fill_too_large;
  verdict.evidence = {
      {"share of the wait in which the minimum holds elements back", c.summary.held_back_share, kShare},
      is_heavy ? Evidence{"share of the memory that the minimum takes", kept, kMostMemory}
               : Evidence{"batches that fit above the minimum",
                          static_cast<double>(room) / static_cast<double>(std::max<int64_t>(c.use.batch, 1)), 2}};
  const double gain = c.gain_with(static_cast<double>(std::max<int64_t>(c.use.producers, 1)));
  if (is_heavy) {  // A larger capacity would need memory that is not there. What it gains, these figures do not tell.
    verdict.findings.push_back(
        fmt::format("the minimum takes {:.0f} % of the memory: lower it, or put smaller elements "
                    "into the queue, such as encoded records, and decode them after it",
                    100 * kept));
    add(verdict, {"put encoded records into the queue, and decode them after it", "", ""}, gain);
  } else {
    add(verdict,
        {"leave room for more batches above the minimum", "capacity",
         fmt::format("{}", c.stats.min_after_dequeue + 4 * c.use.batch)},
        gain);
  }
  return true;
}

// With room for what is taken in as long as the longest waits, of single ones as of whole pauses of the producers.
int64_t capacity_for_pauses(const Case& c) {
  const double step_ns = std::max(c.work_ns / std::max(c.calls, 1.0), 1.0);
  const double batches = std::ceil(static_cast<double>(c.stats.dequeue_wait_p99_ns) / step_ns);
  const double needed = static_cast<double>(c.stats.capacity) + batches * static_cast<double>(c.use.batch);
  int64_t capacity = 4 * c.stats.capacity;
  while (static_cast<double>(capacity) < needed) capacity *= 2;
  return capacity;
}

bool is_uneven(const Case& c, Verdict& verdict) {
  constexpr double kShare = 0.05;
  if (c.summary.full_share <= kShare || c.summary.empty_share <= kShare) return false;
  verdict.code = ReasonCode::window_too_small;
  verdict.evidence = {{"share of the time that the queue is full", c.summary.full_share, kShare},
                      {"share of the time that nothing can be taken", c.summary.empty_share, kShare}};
  add(verdict, {"a larger queue", "capacity", fmt::format("{}", capacity_for_pauses(c))},
      c.gain_with(static_cast<double>(std::max<int64_t>(c.use.producers, 1))));
  return true;
}

bool has_slow_producers(const Case& c, Verdict& verdict) {
  constexpr double kFull = 0.1;
  if (c.full_share() >= kFull) return false;
  verdict.evidence = {{"share of the producers' time in which the queue is full", c.full_share(), kFull}};
  const double producers = static_cast<double>(std::max<int64_t>(c.use.producers, 1));
  const double needed = std::ceil(producers * c.time_ns() / std::max(c.work_ns, 1.0));
  if (c.use.producers > 1) {  // Whether more of them help is not known: they may compute, or wait for each other.
    verdict.findings.push_back(fmt::format(
        "the {} producers are slower than the consumer: make their work cheaper, or, if processors are idle, "
        "use {:.0f} of them",
        c.use.producers, needed));
    return true;
  }
  verdict.code = ReasonCode::serial_stage;
  verdict.findings.push_back(fmt::format("its only producer needs {:.1f} ms for a batch, a step {:.1f} ms",
                                         1e-6 * (1 - c.full_share()) * c.time_ns() / c.calls,
                                         1e-6 * c.work_ns / c.calls));
  add(verdict, {"more producers", "producers", fmt::format("{:.0f}", needed)}, c.gain_with(needed));
  return true;
}

}  // namespace

Verdict diagnose(const QueueStats& stats, const QueueSummary& summary, const WaitSummary& waits, const QueueUse& use) {
  const Case c{.stats = stats,
               .summary = summary,
               .use = use,
               .first_ns = static_cast<double>(waits.first_wait_ns),
               .wait_ns = static_cast<double>(waits.wait_ns - waits.first_wait_ns),
               .work_ns = static_cast<double>(waits.work_ns),
               .calls = static_cast<double>(waits.calls - 1)};
  Verdict verdict{.confidence = summary.waiting_samples >= kLeastCalls || c.wait_share() < kNoWait ? 0.85 : 0.6};
  verdict.wait_share = c.wait_share();
  const double all = std::max(c.first_ns + c.time_ns(), 1.0);
  verdict.waits.startup = c.first_ns / all;
  const bool all_the_time = 2 * waits.p50_ns > waits.p99_ns;
  (all_the_time ? verdict.waits.sustained : verdict.waits.burst) = c.wait_ns / all;
  const bool found = is_too_short(c, verdict) || hardly_waits(c, verdict) || holds_back(c, verdict) ||
                     is_uneven(c, verdict) || has_slow_producers(c, verdict);
  if (!found) {
    verdict.evidence = {{"wait share", c.wait_share(), kNoWait},
                        {"share of the time that nothing can be taken", summary.empty_share, 0},
                        {"share of the time that the queue is full", summary.full_share, 0}};
    verdict.findings = {"nothing in particular limits: these are the largest figures"};
  }
  return verdict;
}

Verdict diagnose(const Queue& queue, const QueueSummary& summary, const WaitSummary& waits, const QueueUse& use) {
  Verdict verdict = diagnose(queue.stats(), summary, waits, use);
  if (verdict.code != ReasonCode::device_bound && verdict.code != ReasonCode::none) verdict.stage = queue.name();
  return verdict;
}

}  // namespace headpond

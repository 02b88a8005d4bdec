// SPDX-License-Identifier: Apache-2.0
// The figures of an engine that verdicts are made of.
#include <algorithm>
#include <fstream>
#include <new>
#include <string>
#include <string_view>

#include "headpond/base/clock.h"
#include "headpond/base/trace.h"
#include "headpond/engine/engine_internal.h"
#include "headpond/engine/executor/counting_internal.h"
#include "headpond/engine/stages/reorder_buffer_internal.h"
#include "headpond/engine/verdict/rules_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kMostStartupCalls = 64;
constexpr int64_t kStalledNs = 60'000'000'000;      // The default of QueueOptions::watchdog.
constexpr int64_t kLongestStartNs = 1'000'000'000;  // After the first batch.
constexpr int64_t kBeforeMachineIsLookedAtNs = 100'000'000;
constexpr double kLeastLook = 1;  // Seconds: the system counts in steps of 10 ms.

// The number that follows `name` in a file of /proc, or 0 if the file does not name it.
int64_t number_in(const char* path, std::string_view name) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    int64_t number = 0;
    if (word == name) return file >> number ? number : 0;
  }
  return 0;
}

// Pages that the machine has read back from swap.
int64_t pages_swapped_in() { return number_in("/proc/vmstat", "pswpin"); }

// Whether memory of this process lies in swap.
bool is_swapped() { return number_in("/proc/self/status", "VmSwap:") > 0; }

TaskTimes since(TaskTimes now, const TaskTimes& before) {
  now.tasks -= before.tasks;
  now.wall_ns -= before.wall_ns;
  now.cpu_ns = std::clamp(now.cpu_ns - before.cpu_ns, 0.0, now.wall_ns);
  now.blocked_ns = std::clamp(now.blocked_ns - before.blocked_ns, 0.0, now.wall_ns);
  now.lock_ns = std::clamp(now.lock_ns - before.lock_ns, 0.0, now.blocked_ns);
  now.queue_ns = std::max(now.queue_ns - before.queue_ns, 0.0);
  return now;
}

StageTotals since(StageTotals now, const StageTotals& before) {
  now.open = since(now.open, before.open);
  now.make = since(now.make, before.make);
  now.elements -= before.elements;
  now.takes -= before.takes;
  now.late -= before.late;
  now.starved_ns -= before.starved_ns;
  now.full_ns -= before.full_ns;
  now.refused_ns -= before.refused_ns;
  now.read_bytes -= before.read_bytes;
  now.holes -= before.holes;
  now.errors -= before.errors;
  return now;
}

}  // namespace

// How many calls the first stage is ahead. How far that is follows from what batches take, so it is asked at each
// call of the first second.
int64_t Engine::startup_calls() {
  const int64_t now = now_ns();
  if (first_batch_ns_ == 0) first_batch_ns_ = now;
  if (now - first_batch_ns_ > kLongestStartNs) return 0;
  for (const auto& source : executor_.sources()) {
    if (!source->is_prefetched) return std::min(1 + source->target(), kMostStartupCalls);
  }
  return 1;
}

void Engine::count_call() {
  StepAccount& steps = consumer.steps;
  const bool starts = steps.is_starting();
  steps.call_ends(starts ? startup_calls() : 0);
  if (steps.is_starting()) return;
  if (starts) begin_to_count();
  if (!was_machine_looked_at_ && consumer.arrived_ns() - first_batch_ns_ > kBeforeMachineIsLookedAtNs)
    look_at_machine();
}

// Without memory for it the run goes on, and its verdict covers the start as well.
void Engine::begin_to_count() {
  try {
    for (const StageFigures& stage : stage_figures()) totals_before_[stage.id] = stage.totals;
    seen_before_ = executor_.seen_in_waits();
  } catch (const std::bad_alloc&) {
    totals_before_.clear();
  }
}

// Reading the system's files takes 0.2 ms, too much for a run of a few milliseconds.
void Engine::look_at_machine() {
  was_machine_looked_at_ = true;
  try {
    swapped_before_ = pages_swapped_in();
    cpu_before_ = sample_cpu_of(executor_.cpus());
  } catch (const std::bad_alloc&) {  // Then figures() tells nothing of the machine.
  }
}

std::vector<StageFigures> Engine::stage_figures() const {
  std::vector<StageFigures> stages;
  for (const auto& source : executor_.sources()) {
    const auto* const buffer = dynamic_cast<const ReorderBuffer*>(source.get());
    if (buffer == nullptr || buffer->is_prefetched) continue;
    const bool is_new =
        std::none_of(stages.begin(), stages.end(), [&](const StageFigures& stage) { return stage.id == buffer->id(); });
    if (!is_new) continue;
    stages.push_back(buffer->figures());
    stages.back().is_made = buffer->made != nullptr;
  }
  return stages.empty() ? figures_ : stages;
}

void Engine::add_steps(Figures& figures) const {
  const StepAccount& steps = consumer.steps;
  figures.kinds = steps.stats();
  figures.steps = steps.counted();
  figures.call_ns = steps.counted_call_ns();
  figures.work_ns = steps.counted_work_ns();
  figures.time_ns = figures.call_ns + figures.work_ns;
  figures.startup_ns = figures.kinds.startup_ns;
  figures.startup_work_ns = steps.startup_work_ns();
  figures.edges = steps.edges();
  figures.program_cpu_share = steps.cpu_share();
  figures.program_queue_share = steps.queue_share();
  for (const StepAccount::Step& step : steps.recent()) figures.recent.push_back({step.call_ns, step.work_ns});
  const int64_t last = std::max(consumer.arrived_ns(), last_ready_ns.load(std::memory_order_relaxed));
  const int64_t now = now_ns();
  figures.is_stalled = consumer.waited_ns(now) > 0 && now - last > kStalledNs;
  if (!figures.is_stalled) return;
  figures.stalled_in = executor_.operators_in_progress();
  figures.stalled_stage = executor_.stage_in_progress();
}

void Engine::add_threads(Figures& figures) const {
  figures.repeats = repeats_;
  figures.processors = cpu_count();
  figures.threads = executor_.worker_count();
  figures.io_threads = executor_.io_threads();
  figures.io_ceiling = executor_.io_ceiling();
  figures.run_ahead = options.run_ahead;
  const SeenInWaits& seen = executor_.seen_in_waits();
  const double ns = seen.ns - seen_before_.ns;
  if (ns > 0) {
    figures.process_cpus_in_waits = (seen.process_cpu_ns - seen_before_.process_cpu_ns) / ns;
    figures.system_cpus_in_waits = (seen.process_system_ns - seen_before_.process_system_ns) / ns;
    figures.own_cpus_in_waits = (seen.own_cpu_ns - seen_before_.own_cpu_ns) / ns;
  }
  for (StageFigures& stage : figures.stages) {
    const auto found = seen.doing.find(trace::intern(stage.name));
    if (found == seen.doing.end()) continue;
    SeenDoing doing = found->second;
    const auto before = seen_before_.doing.find(found->first);
    if (before != seen_before_.doing.end()) doing.take(before->second);
    stage.seen = static_cast<double>(doing.all());
    stage.seen_blocked = 2 * doing.unknown > doing.all() ? -1 : static_cast<double>(doing.blocked());
    stage.seen_locked = static_cast<double>(doing.locked);
  }
}

void Engine::add_machine(Figures& figures, const CpuSample& now) const {
  const double passed = 1e-9 * static_cast<double>(now.wall_ns - cpu_before_.wall_ns);
  if (cpu_before_.wall_ns == 0 || passed < kLeastLook || now.all_s <= 0) return;
  const double stolen = (now.stolen_s - cpu_before_.stolen_s) / passed;
  const double throttled = (now.throttled_s - cpu_before_.throttled_s) / passed;
  const double used = (now.all_s - cpu_before_.all_s) / passed;
  figures.others = other_cores(cpu_before_, now) + stolen + throttled;
  if (is_swapped()) figures.swapped_per_s = static_cast<double>(pages_swapped_in() - swapped_before_) / passed;
  figures.idle = std::max(static_cast<double>(executor_.cpus().size()) - used - stolen - throttled, 0.0);
}

Figures Engine::figures() {
  const CpuSample cpu = sample_cpu_of(executor_.cpus());
  const Locked locked(lock);
  Figures figures;
  figures.stages = stage_figures();
  for (StageFigures& stage : figures.stages) {
    const auto before = totals_before_.find(stage.id);
    if (before != totals_before_.end()) stage.totals = since(stage.totals, before->second);
  }
  add_steps(figures);
  add_threads(figures);
  add_machine(figures, cpu);
  figures.memory = static_cast<double>(*options.memory);
  figures.held_by_program = static_cast<double>(accounts.program().bytes());
  figures.batch_bytes = figures.stages.empty() ? 0 : static_cast<double>(figures.stages.front().item_bytes);
  return figures;
}

RecentSteps Engine::recent_steps() {
  const Locked locked(lock);
  return {consumer.steps.counted(), consumer.steps.recent()};
}

Verdict Engine::diagnose() {
  if (!kCounts) return {.findings = {"this build counts nothing (HEADPOND_STATS=OFF)"}};
  return judge(figures());
}

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// A Loader's figures as dicts, with the names of headpond/engine/loader_stats.h. Each bracket names all members of a
// struct: with another one this does not compile.
#include <cstddef>
#include <vector>

#include "nanobind/stl/optional.h"
#include "nanobind/stl/string.h"
#include "python/src/loader_object.h"

namespace headpond::python {
namespace {

// {names[i]: values[i]}
template <size_t kCount, class... Values>
Dict named(const char* const (&names)[kCount], const Values&... values) {
  static_assert(kCount == sizeof...(Values));
  Dict made;
  size_t i = 0;
  ((made[names[i++]] = values), ...);
  return made;
}

Dict dict_of(const ThreadsSeen& seen) {
  const auto& [runs, locked, reads, sleeps, talks, other, unknown] = seen;
  return named({"runs", "locked", "reads", "sleeps", "talks", "other", "unknown"}, runs, locked, reads, sleeps, talks,
               other, unknown);
}

Dict dict_of(const OperatorCost& cost) {
  const auto& [op, ns, cpu_ns, bytes, read_bytes, seen, title] = cost;
  return named({"op", "ns", "cpu_ns", "bytes", "read_bytes", "seen", "title"}, to_text(op), ns, cpu_ns, bytes,
               read_bytes, dict_of(seen), to_text(title));
}

Dict dict_of(const OperatorMemory& memory) {
  const auto& [op, stage, bytes, peak] = memory;
  return named({"op", "stage", "bytes", "peak"}, to_text(op), to_text(stage), bytes, peak);
}

Dict dict_of(const FailedCounts& counts) {
  const auto& [op, failed, skipped, substituted, step] = counts;
  return named({"op", "failed", "skipped", "substituted", "step"}, to_text(op), failed, skipped, substituted, step);
}

Dict dict_of(const TaskTimes& times) {
  const auto& [tasks, wall_ns, cpu_ns, queue_ns, blocked_ns, lock_ns] = times;
  return named({"tasks", "wall_ns", "cpu_ns", "queue_ns", "blocked_ns", "lock_ns"}, tasks, wall_ns, cpu_ns, queue_ns,
               blocked_ns, lock_ns);
}

Dict dict_of(const StageTotals& totals) {
  const auto& [open, make, elements, takes, late, starved_ns, full_ns, refused_ns, read_bytes, holes, errors] = totals;
  return named({"open", "make", "elements", "takes", "late", "starved_ns", "full_ns", "refused_ns", "read_bytes",
                "holes", "errors"},
               dict_of(open), dict_of(make), elements, takes, late, starved_ns, full_ns, refused_ns, read_bytes, holes,
               errors);
}

Dict dict_of(const StageStats& stage);

template <class Row>
nb::list listed(const std::vector<Row>& rows) {
  nb::list all;
  for (const Row& row : rows) all.append(dict_of(row));
  return all;
}

Dict dict_of(const StageStats& stage) {
  const auto& [name, blocking, units, elements, element_ns, unit_ns, target, ahead, ready, mean_ready, unit_bytes,
               operators, totals, starved_p50_ns, starved_p99_ns, idle_p50_ns, idle_p99_ns, mean_ahead, ready_bytes,
               ready_bytes_peak, seen] = stage;
  return named({"name",        "blocking",    "units",      "elements",       "element_ns",
                "unit_ns",     "target",      "ahead",      "ready",          "mean_ready",
                "unit_bytes",  "operators",   "totals",     "starved_p50_ns", "starved_p99_ns",
                "idle_p50_ns", "idle_p99_ns", "mean_ahead", "ready_bytes",    "ready_bytes_peak",
                "seen"},
               to_text(name), blocking, units, elements, element_ns, unit_ns, target, ahead, ready, mean_ready,
               unit_bytes, listed(operators), dict_of(totals), starved_p50_ns, starved_p99_ns, idle_p50_ns, idle_p99_ns,
               mean_ahead, ready_bytes, ready_bytes_peak, dict_of(seen));
}

Dict dict_of(const CallTimes& times) {
  const auto& [calls, p50_ns, p99_ns] = times;
  return named({"calls", "p50_ns", "p99_ns"}, calls, p50_ns, p99_ns);
}

Dict dict_of(const ThreadTimes& times) {
  const auto& [alive_ns, tasks_ns, idle_ns] = times;
  return named({"alive_ns", "tasks_ns", "idle_ns"}, alive_ns, tasks_ns, idle_ns);
}

Dict dict_of(const StepStats& steps) {
  const auto& [count, call_ns, startup_ns, edge_ns, burst_ns, sustained_ns, work_ns, helped_ns, startup, edge, burst,
               sustained, work_cpu_share, work_queue_share] = steps;
  return named({"steps", "call_ns", "startup_ns", "edge_ns", "burst_ns", "sustained_ns", "work_ns", "helped_ns",
                "startup", "edge", "burst", "sustained", "work_cpu_share", "work_queue_share"},
               count, call_ns, startup_ns, edge_ns, burst_ns, sustained_ns, work_ns, helped_ns, dict_of(startup),
               dict_of(edge), dict_of(burst), dict_of(sustained), work_cpu_share, work_queue_share);
}

}  // namespace

Dict stats_of(const PythonLoader& loader) {
  const LoaderStats stats = loader.stats();
  const auto& [batches, waits, wait_ns, first_wait_ns, helped, memory_in_use, memory_peak, memory_limit, memory_free,
               memory_held, memory_held_peak, memory, threads, io_threads, inline_now, stages, steps, defects, failed,
               elements, bytes, compute_times, io_times] = stats;
  return named(
      {"batches",       "waits",       "wait_ns",     "first_wait_ns",    "helped", "memory_in_use", "memory_peak",
       "memory_limit",  "memory_free", "memory_held", "memory_held_peak", "memory", "threads",       "io_threads",
       "inline_now",    "stages",      "steps",       "defects",          "failed", "elements",      "bytes",
       "compute_times", "io_times"},
      batches, waits, wait_ns, first_wait_ns, helped, memory_in_use, memory_peak, memory_limit, memory_free,
      memory_held, memory_held_peak, listed(memory), threads, io_threads, inline_now, listed(stages), dict_of(steps),
      defects, listed(failed), elements, bytes, dict_of(compute_times), dict_of(io_times));
}

}  // namespace headpond::python

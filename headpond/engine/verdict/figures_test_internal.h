// SPDX-License-Identifier: Apache-2.0
// Figures of made-up runs, for the tests of verdicts.
#pragma once

#include <string>
#include <utility>

#include "headpond/engine/verdict/figures_internal.h"
#include "headpond/engine/verdict/rules_internal.h"

namespace headpond::internal {

inline constexpr double kMsNs = 1e6;

/// 400 steps of 20 ms of sleep. Each waits `wait_ms` for the only stage, whose tasks take `cpu_ms` and `blocked_ms` a
/// step, on two processors.
inline Figures run_of(double wait_ms, double cpu_ms, double blocked_ms = 0) {
  constexpr int64_t kSteps = 400;
  Figures figures;
  figures.steps = kSteps;
  figures.call_ns = kSteps * wait_ms * kMsNs;
  figures.work_ns = kSteps * 20 * kMsNs;
  figures.time_ns = figures.call_ns + figures.work_ns;
  figures.kinds.call_ns = figures.kinds.sustained_ns = figures.call_ns;
  figures.program_cpu_share = figures.program_queue_share = 0;
  figures.processors = figures.threads = 2;
  figures.io_ceiling = 256;
  figures.others = 0;
  figures.idle = 0.5;
  figures.memory = 1e9;
  figures.batch_bytes = 1e6;
  for (int64_t i = 0; i < kSteps; ++i) figures.recent.push_back({wait_ms * kMsNs, 20 * kMsNs});
  StageFigures stage{.name = "read|map|batch", .top = {"batch", "batch(batch_size=32)"}};
  stage.operators = {{"read", 1}, {"map", 10}};
  stage.totals.make = {.tasks = kSteps * 32,
                       .wall_ns = kSteps * (cpu_ms + blocked_ms) * kMsNs,
                       .cpu_ns = kSteps * cpu_ms * kMsNs,
                       .blocked_ns = kSteps * blocked_ms * kMsNs};
  stage.totals.elements = kSteps * 32;
  stage.totals.takes = kSteps;
  stage.totals.starved_ns = figures.call_ns;
  stage.is_blocking = blocked_ms > cpu_ms;
  stage.item_ns.assign(512, static_cast<float>((cpu_ms + blocked_ms) * kMsNs));
  figures.stages.push_back(std::move(stage));
  return figures;
}

/// Of the run above: one thread at a time works, all the time.
inline Figures serial_run() {
  Figures figures = run_of(40, 0);
  figures.stages[0].totals.open = {.tasks = 400, .wall_ns = 400 * 60 * kMsNs, .cpu_ns = 400 * 60 * kMsNs};
  return figures;
}

inline ReasonCode code_of(const Figures& figures) { return judge(figures).code; }

template <class Alter>
inline ReasonCode code_of(Figures figures, Alter alter) {
  alter(figures);
  return code_of(figures);
}

inline std::string setting_of(const Figures& figures) {
  const Verdict verdict = judge(figures);
  return verdict.changes.empty() ? "none" : verdict.changes[0].setting + "=" + verdict.changes[0].value;
}

template <class Alter>
inline std::string setting_of(Figures figures, Alter alter) {
  alter(figures);
  return setting_of(figures);
}

}  // namespace headpond::internal

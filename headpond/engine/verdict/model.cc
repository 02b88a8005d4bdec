// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "headpond/engine/stages/cost_model_internal.h"
#include "headpond/engine/verdict/model_internal.h"

namespace headpond::internal {
namespace {

constexpr double kShort = 1e-9;  // A step takes at least so many seconds.

bool blocks(const TaskTimes& times) { return times.blocked_ns > times.wall_ns / 2; }

}  // namespace

double Model::rate() const {
  return 1 / std::max({program, (cpu + program_cpu) / std::max(processors, 1.0), blocked / std::max(may_block, 1.0),
                       serial, bandwidth, kShort});
}

Model model_of(const Figures& figures) {
  const auto seconds = [&](double ns) { return 1e-9 * figures.per_step(ns); };
  Model model;
  model.program = seconds(figures.work_ns);
  model.program_cpu = model.program * std::clamp(figures.program_cpu_share, 0.0, 1.0);
  model.processors = std::max(1, std::min(figures.threads, figures.processors));
  for (const StageFigures& stage : figures.stages) {
    const StageTotals& totals = stage.totals;
    model.cpu += seconds(totals.open.cpu_ns + totals.make.cpu_ns);
    const double serial = stage.is_made ? 0 : seconds(totals.open.cpu_ns + totals.open.blocked_ns);
    model.next_serial = std::max(model.next_serial, std::min(model.serial, serial));
    model.serial = std::max(model.serial, serial);
    if (!blocks(totals.make)) continue;
    const double of_stage = seconds(totals.make.blocked_ns + totals.make.cpu_ns);
    if (of_stage <= model.blocked) continue;
    model.blocked = of_stage;
    model.may_block = std::max(figures.io_threads, figures.threads);
    if (stage.is_capped && figures.run_ahead >= 0) {
      const double rows =
          static_cast<double>(totals.elements) / static_cast<double>(std::max<int64_t>(totals.takes, 1));
      model.may_block = std::min(model.may_block, std::max(rows, 1.0) * static_cast<double>(figures.run_ahead + 1));
    }
  }
  return model;
}

double measured_rate(const Figures& figures) {
  return figures.time_ns > 0 ? 1e9 * static_cast<double>(figures.steps) / figures.time_ns : 0;
}

double gain_of(const Figures& figures, const Model& before, const Model& after) {
  const double most = 1 / std::max(1 - figures.wait_share(), 0.01);
  return std::clamp(after.rate() / before.rate(), 1.0, most);
}

// One batch after the other is made, each as long as one took, at most `ahead` before the program takes it, and not
// more than ReorderBuffer::target() asks for: enough for the time that one takes.
double gain_of_window(const Figures& figures, const StageFigures& stage, int64_t ahead) {
  const size_t steps = std::min(figures.recent.size(), stage.item_ns.size());
  if (steps < 2) return 1;
  const double interval_ns = std::max(figures.per_step(figures.work_ns), 1e3);
  const auto simulated = [&](size_t most) {
    std::vector<double> taken(steps, 0);
    MovingAverage latency_ns = CostModel::latency();
    double made = 0, free = 0;  // When the last batch is ready, and when the program asks again.
    for (size_t i = 0; i < steps; ++i) {
      const double needed = 1 + figures.threads + std::ceil(latency_ns.value() / interval_ns);
      const size_t window = std::min(most, static_cast<size_t>(needed));
      const double room = window == 0 ? free : i >= window ? taken[i - window] : 0;
      const double item_ns = stage.item_ns[stage.item_ns.size() - steps + i];
      latency_ns.add(item_ns);
      made = std::max(made, room) + item_ns;
      taken[i] = std::max(made, free);
      free = taken[i] + figures.recent[figures.recent.size() - steps + i].work_ns;
    }
    return free;
  };
  const double now = simulated(static_cast<size_t>(std::max<int64_t>(figures.run_ahead, 0)));
  const double then = simulated(static_cast<size_t>(ahead));
  const double most_gain = 1 / std::max(1 - figures.wait_share(), 0.01);
  return then > 0 ? std::clamp(now / then, 1.0, most_gain) : 1;
}

}  // namespace headpond::internal

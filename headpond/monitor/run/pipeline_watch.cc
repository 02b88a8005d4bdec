// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "headpond/monitor/run/pipeline_watch_internal.h"
#include "headpond/monitor/run/unlike_internal.h"

namespace headpond::internal {
namespace {

double wall_of(const StageStats& stage) { return stage.totals.open.wall_ns + stage.totals.make.wall_ns; }

// Where no operator was measured, the stage is one.
std::vector<OperatorCost> operators_of(const StageStats& stage) {
  return stage.operators.empty() ? std::vector<OperatorCost>{{.op = stage.name, .ns = stage.element_ns}}
                                 : stage.operators;
}

}  // namespace

PipelineWatch::PipelineWatch(PipelineSource source, int64_t now_ns)
    : source_(std::move(source)), rates_(source_.name), before_(totals()), before_ns_(now_ns) {
  record_.name = source_.name;
  record_.plan = source_.plan;
  (void)rates_.since_last(before_, now_ns);
  std::vector<Scalar> of_the_past;
  if (source_.stats) add_operators(source_.stats(), 1, of_the_past);
  (void)new_steps();
}

std::optional<int64_t> PipelineWatch::steps() const {
  if (has_ended()) return before_.steps ? before_.steps : before_.calls;
  const PipelineTotals now = totals();
  return now.steps ? now.steps : now.calls;
}

void PipelineWatch::look_at_loader(PipelinePoint& point) {
  record_.loader = source_.stats();
  const LoaderStats& figures = record_.loader;
  point.ready = figures.stages.empty() ? 0 : static_cast<double>(figures.stages.front().ready);
  point.memory_bytes = figures.memory_in_use;
}

PipelinePoint PipelineWatch::sample_soon(std::vector<Scalar>& points, int64_t now_ns) {
  if (!last_) return sample(points, now_ns);
  PipelinePoint point = *last_;
  if (source_.stats) look_at_loader(point);
  return point;
}

PipelinePoint PipelineWatch::sample(std::vector<Scalar>& points, int64_t now_ns) {
  const PipelineTotals now = totals();
  const double passed_ns = static_cast<double>(std::max<int64_t>(now_ns - before_ns_, 1));
  PipelinePoint point{.name = source_.name, .ready = -1};
  const int64_t waited = now.wait_ns.value_or(0) - before_.wait_ns.value_or(0);
  point.wait_share = std::clamp(static_cast<double>(waited) / passed_ns, 0.0, 1.0);
  PipelineTotals rated = now;
  rated.steps = {};  // The log's own.
  for (Scalar& one : rates_.since_last(rated, now_ns)) points.push_back(std::move(one));
  if (source_.stats) {
    look_at_loader(point);
    const std::string prefix = source_.name.empty() ? "pipeline/" : "pipeline/" + source_.name + "/";
    points.push_back({prefix + "ready_batches", point.ready});
    points.push_back({prefix + "memory_bytes", static_cast<double>(point.memory_bytes)});
    add_operators(record_.loader, passed_ns, points);
  }
  const bool has_begun = (now.steps ? now.steps : now.calls).value_or(1) > 0;
  if (has_begun && now_ns > before_ns_) ++samples_;  // One of a time before it was watched has no rates.
  before_ = now;
  before_ns_ = now_ns;
  last_ = point;
  return point;
}

std::vector<StepTime> PipelineWatch::new_steps() {
  if (!source_.recent_steps) return {};
  RecentSteps recent = source_.recent_steps();
  const int64_t grown = recent.counted - std::exchange(steps_before_, recent.counted);
  const int64_t old = std::max<int64_t>(std::ssize(recent.steps) - std::max<int64_t>(grown, 0), 0);
  recent.steps.erase(recent.steps.begin(), recent.steps.begin() + old);
  return std::move(recent.steps);
}

// An operator has the share of its stage's time that samples found in it.
void PipelineWatch::add_operators(const LoaderStats& stats, double passed_ns, std::vector<Scalar>& points) {
  std::set<std::string> taken, stages;
  for (auto stage = stats.stages.rbegin(); stage != stats.stages.rend(); ++stage) {
    const double wall = wall_of(*stage);
    const double at_once =
        std::max(wall - std::exchange(wall_before_[unlike(stage->name, stages)], wall), 0.0) / passed_ns;
    const std::vector<OperatorCost> operators = operators_of(*stage);
    double all = 0;
    for (const OperatorCost& one : operators) all += one.ns;
    for (const OperatorCost& one : operators) {
      const std::string prefix = "op/" + (source_.name.empty() ? "" : source_.name + "/") + unlike(one.op, taken) + "/";
      const double parallelism = all > 0 ? at_once * one.ns / all : at_once / static_cast<double>(operators.size());
      const int threads = std::max(stats.threads + (stage->blocking ? stats.io_threads : 0), 1);
      points.push_back({prefix + "parallelism", parallelism});
      points.push_back({prefix + "busy_fraction", std::min(parallelism / threads, 1.0)});
      points.push_back({prefix + "self_us", one.ns / 1000});
    }
  }
}

const PipelineRecord& PipelineWatch::record(double seconds) {
  if (has_ended()) return record_;
  record_.seconds = seconds;
  record_.wait_ns = static_cast<double>(totals().wait_ns.value_or(0));
  if (source_.verdict) record_.verdict = source_.verdict();
  record_.loader = stats();
  return record_;
}

void PipelineWatch::end(double seconds) {
  (void)record(seconds);
  before_ = totals();
  record_.has_ended = true;
  source_ = {.name = source_.name};
}

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// One pipeline that a RunLog watches, and what its charts and its record say.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headpond/monitor/run/pipeline_source.h"
#include "headpond/monitor/run/run_record.h"

namespace headpond::internal {

/// Not thread-safe.
class PipelineWatch {
 public:
  PipelineWatch(PipelineSource source, int64_t now_ns);

  const std::string& name() const { return source_.name; }
  const std::string& plan() const { return record_.plan; }
  bool has_ended() const { return record_.has_ended; }
  /// So many steps, or calls for data, were made; none if that is not counted.
  std::optional<int64_t> steps() const;

  /// What happened since the call before. `points`: its scalars are added to these.
  PipelinePoint sample(std::vector<Scalar>& points, int64_t now_ns);
  /// The same, but soon after that call: rates are those of that call, as what happened since would be noise, and there
  /// are no scalars.
  PipelinePoint sample_soon(std::vector<Scalar>& points, int64_t now_ns);
  /// Its Loader at the last sample.
  const LoaderStats& sampled() const { return record_.loader; }
  /// The steps that ended since the call before, at most 512 of them.
  std::vector<StepTime> new_steps();
  /// Whether a chart got a point since the first step, or call for data.
  bool has_points() const { return samples_ > 0; }
  /// `seconds`: since the run's start. After end() that of the end.
  const PipelineRecord& record(double seconds);
  /// The last record is taken; nothing of the source is called or kept after that.
  void end(double seconds);

 private:
  PipelineTotals totals() const { return source_.totals ? source_.totals() : PipelineTotals(); }
  LoaderStats stats() const { return source_.stats ? source_.stats() : LoaderStats(); }
  void look_at_loader(PipelinePoint& point);
  void add_operators(const LoaderStats& stats, double passed_ns, std::vector<Scalar>& points);

  PipelineSource source_;
  PipelineRates rates_;
  PipelineTotals before_;
  int64_t before_ns_;
  int64_t samples_ = 0;
  std::optional<PipelinePoint> last_;
  int64_t steps_before_ = 0;                   // Counts recent_steps.
  std::map<std::string, double> wall_before_;  // Times of stages, by their names and indices among equal ones.
  PipelineRecord record_;
};

}  // namespace headpond::internal

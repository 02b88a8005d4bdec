// SPDX-License-Identifier: Apache-2.0
// A pipeline as a RunLog sees it.
#pragma once

#include <functional>
#include <string>

#include "headpond/engine/loader_stats.h"
#include "headpond/engine/verdict/verdict.h"
#include "headpond/monitor/pipeline_rates.h"

namespace headpond {

/// Its functions are called by the log's thread and by those that call the log or reset a watch, one at a time. They
/// must not call the log, nor wait for a thread that does: its lock is held. Those that are empty say nothing.
struct PipelineSource {
  std::string name = "";  ///< Part of the tags: pipeline/<name>/...; empty: pipeline/...
  std::function<PipelineTotals()> totals = {};
  std::function<Verdict()> verdict = {};
  std::function<LoaderStats()> stats = {};
  std::function<RecentSteps()> recent_steps = {};
  std::string plan = "";
};

}  // namespace headpond

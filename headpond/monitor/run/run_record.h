// SPDX-License-Identifier: Apache-2.0
// The record of a run in the file run.jsonl, while it lasts and afterwards: a RunLog takes a RunPoint about each second
// (sample() in run_log.cc) and appends its line; read_run() reads the lines. How a figure is added:
// docs/how_to_add.md, "A figure of a run". Format: docs/monitoring.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/engine/loader_stats.h"
#include "headpond/engine/verdict/verdict.h"
#include "headpond/monitor/queue_monitor.h"
#include "headpond/monitor/run/memory_use.h"
#include "headpond/monitor/run/thread_use.h"

namespace headpond {

struct RunMachine {
  std::string started = {};  ///< Like 2026-05-01T12:00:00Z.
  int64_t pid = 0;
  int processors = 0;  ///< How many the process may use.
  std::string simd = {};
  int64_t idle_pss = 0;  ///< The process's size when the run started, like RunPoint::pss, but for data that is mapped
                         ///< or lies in tensors.
};

/// A pipeline at one moment.
struct PipelinePoint {
  std::string name = {};
  double wait_share = 0;  ///< Share of the time since the point before.
  double ready = 0;       ///< Batches; below 0: not known.
  int64_t memory_bytes = 0;
};

/// A queue at one moment, as its TensorBoard chart shows it.
struct QueuePoint {
  std::string tag = {};
  double value = 0;
};

/// All that a queue or a staging area counted so far.
struct QueueRecord {
  std::string name = {};
  QueueFigures figures = {};
};

/// The last point of a run is taken at its end. If that is too soon for rates of its own (less than half of write_every
/// after the point before), it has the shares and the processors of the point before.
struct RunPoint {
  double seconds = 0;  ///< Since the run's start.
  int64_t step = 0;
  /// Processors' worth that this process used since the point before; 0 in the first point of a run shorter than 0.1 s.
  double own_cpus = 0;
  double other_cpus = 0;  ///< The same of other processes.
  int64_t rss = 0;
  /// Those that are watched, and those whose watch ended before they were in any point.
  std::vector<PipelinePoint> pipelines = {};
  std::vector<QueuePoint> queues = {};
  int64_t pss = 0;                      ///< Proportional set size, about each five seconds; else 0.
  std::vector<MemoryUse> memory = {};   ///< Who holds the part of pss beyond idle_pss.
  std::vector<ThreadUse> threads = {};  ///< Use by this process's threads since the run's start.
  /// Processors' worth that the host of a virtual machine took, and for which the control group of this process was
  /// stopped.
  double stolen_cpus = 0, throttled_cpus = 0;
  /// Queues and staging areas that count, also those whose watch has ended since the point before.
  std::vector<QueueRecord> hand_offs = {};
};

/// The record of a pipeline, so far or until it ended.
struct PipelineRecord {
  std::string name = {};  ///< Empty: the only one, or the first.
  double seconds = 0;     ///< Since the run's start.
  bool has_ended = false;
  std::string plan = {};  ///< Dataset::plan(); empty: it is no Loader.
  double wait_ns = 0;     ///< Time that the program waited for this pipeline.
  Verdict verdict = {};
  LoaderStats loader = {};  ///< Without `failed`.
};

struct RunRecord {
  RunMachine machine = {};
  std::vector<RunPoint> points = {};
  std::vector<PipelineRecord> pipelines = {};  ///< The latest of each, in order of their first.
  bool is_whole = false;                       ///< The run ended, and was not killed.
};

/// One line of the file, with its end.
std::string line_of(const RunMachine& machine);
std::string line_of(const RunPoint& point);
std::string line_of(const PipelineRecord& pipeline);
std::string end_line();

/// Reads `folder`/run.jsonl; of several runs in it the last one. NotFound without one; DataLoss, with the line's
/// number and the member that cannot be read, for a line that is none of the above. A last line without its end, as a
/// killed run leaves it, is passed over; members that are not known are too.
Result<RunRecord> read_run(const std::string& folder);

/// The point with the largest `pss`, and the last point that has one. Null if there is none.
const RunPoint* fullest_point(const RunRecord& run);
const RunPoint* last_looked_at(const RunRecord& run);

/// The latest of each queue, in order of their first.
std::vector<QueueRecord> last_hand_offs(const RunRecord& run);

/// Whether its verdict says anything.
bool has_verdict(const PipelineRecord& pipeline);

/// The pipeline for which the program waited most, one with a reason before one without; null if there is none.
const PipelineRecord* most_waited_for(const std::vector<PipelineRecord>& pipelines);

/// Whether profile_of() has rows of it: it is a Loader that has begun.
bool has_profile(const PipelineRecord& pipeline);
/// Of those that have a profile the one for which the program waited longest; null if there is none.
const PipelineRecord* most_waited_for_with_profile(const std::vector<PipelineRecord>& pipelines);

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// Captures a run: TensorBoard charts, a timeline, and why the program waits for each of its pipelines.
//
//   auto log = RunLog::open("runs/1").value();
//   const auto watched = log->watch(loader);
//   while (auto batch = loader.next()) {
//     const auto step = log->step();
//     log->scalar("loss", train_step(*batch));
//   }
//   std::cout << log->diagnose();
//
// docs/monitoring.md describes the files.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/base/status.h"
#include "headpond/base/trace.h"
#include "headpond/engine/loader.h"
#include "headpond/engine/verdict/profile.h"
#include "headpond/monitor/queue_monitor.h"
#include "headpond/monitor/queue_verdict.h"
#include "headpond/monitor/run/pipeline_source.h"
#include "headpond/monitor/run/run_record.h"
#include "headpond/monitor/run/trace_options.h"
#include "headpond/monitor/timeline.h"
#include "headpond/monitor/wait_account.h"

namespace headpond {

class EventWriter;

struct RunLogOptions {
  std::chrono::milliseconds sample_every{100};  ///< Queues, threads, processors.
  std::chrono::milliseconds write_every{1000};  ///< A point of each chart, and a line of run.jsonl.
  TagStyle tag_style = TagStyle::queue;
  TraceOptions trace = {};
  bool report = true;  ///< report.html is written at the end.
  /// Other processes of this user can listen, through the socket live.sock in the folder: see LiveRun. Where the system
  /// or the file system has none, that is logged.
  bool live = false;
};

/// The files of a run; empty where there is none.
struct RunFiles {
  std::string folder = {}, events = {}, timeline = {};
};

/// One thread, "monitor", samples and writes. Thread-safe. What is watched is read only: no byte and no order changes.
///
/// Files in the folder: TensorBoard's events, run.jsonl (what read_run() reads, also while the run lasts), and at
/// close() verdict.json, profile.json, report.html and the timeline. A full disk ends no run: after its first error
/// run.jsonl, or the event file, gets nothing more, and the other files go on. Each such error, and the first one of a
/// timeline during the run, is logged as a warning.
class RunLog {
  class State;

 public:
  /// Keeps something watched. Destroying or resetting it takes a last sample; what was seen until then stays in the
  /// log. It may outlive the log.
  class Watch {
   public:
    Watch() = default;
    Watch(Watch&& other) noexcept = default;
    Watch& operator=(Watch&& other) noexcept;
    ~Watch() { reset(); }
    void reset();
    /// The summary of a watched queue. REQUIRES: one that was not reset, and whose log was not closed.
    QueueSummary queue() const;

   private:
    friend class RunLog;
    Watch(std::shared_ptr<State> state, int64_t id) : state_(std::move(state)), id_(id) {}
    std::shared_ptr<State> state_;
    int64_t id_ = -1;
  };

  /// A span "step" of the timeline, as long as it lives.
  class Step {
   public:
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    friend class RunLog;
    explicit Step(int64_t number);
    const trace::SpanWithArgs span_;
  };

  /// Makes `folder` if need be. If a run is in it already, run.jsonl goes on (read_run() takes the last run), the event
  /// file is a new one, and the files of the end replace the old ones. With "" no file is written, and no timeline is
  /// recorded. Throws Exception(InvalidArgument) iff sample_every is not above 0, write_every is below 0, or
  /// trace.signal is none that a program can handle; nothing is made then.
  static Result<std::unique_ptr<RunLog>> open(const std::string& folder, RunLogOptions options = {});
  static void open(internal::ListOfNames, RunLogOptions = {}) = delete;
  /// Calls close(); an error is logged.
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  /// `name` is part of the tags, pipeline/<name>/...; without one they are pipeline/... A name that is watched already
  /// gets "_1", "_2", ... The Loader may be moved and may end while it is watched. The thread that calls its next()
  /// calls this. After close() all of these throw Exception(FailedPrecondition).
  [[nodiscard]] Watch watch(const Loader& loader, std::string name = "");
  /// The account outlives the watch.
  [[nodiscard]] Watch watch(const WaitAccount& account, std::string name = "");
  /// A consumer that counts for itself.
  [[nodiscard]] Watch watch(PipelineSource source);
  /// How full it is. Queues of others have a QueueSource. Throws as QueueMonitor::watch().
  [[nodiscard]] Watch watch(QueueSource source);
  [[nodiscard]] Watch watch(const Queue& queue) { return watch(queue_source(queue)); }
  [[nodiscard]] Watch watch(const StagingArea& area) { return watch(queue_source(area)); }
  [[nodiscard]] Watch watch(const MapStagingArea& area) { return watch(queue_source(area)); }
  /// The same, and why its consumer waits, whose account outlives the watch. `source` has its name and, if they are
  /// known better than the account knows them, its totals.
  [[nodiscard]] Watch watch(const Queue& queue, const WaitAccount& account, QueueUse use, PipelineSource source = {});

  /// The program's next step: points carry the number of steps. Without it they carry that of the first pipeline.
  [[nodiscard]] Step step();
  /// A point of a chart of your own, and a text in Markdown, at the step that is on; as EventWriter's. Nothing is
  /// written without a folder.
  Result<void> scalar(std::string_view tag, double value);
  Result<void> text(std::string_view tag, std::string_view markdown);
  /// For points at other steps; lives as long as this. Null without a folder.
  EventWriter* events() const;

  /// The record so far; the run goes on. FailedPrecondition iff this log records no timeline: TraceOptions::is_on is
  /// false, it has no folder, it was closed, or a log that was opened later has the trace.
  Result<TimelineReport> write_timeline(const std::string& path) const;
  /// The verdict of the pipeline for which the program waited most.
  Verdict diagnose() const;
  /// From profile_of(): the profile of the Loader for which the program waited longest; empty if none is watched.
  Result<std::vector<ProfileRow>> profile(const ProfileOptions& options = {}) const;
  /// All that were watched; of two with one name the later. Without a verdict: `none` without findings.
  std::vector<PipelineRecord> pipelines() const;
  RunFiles files() const;
  /// Stops watching and writes the remaining figures. Returns one error, the first there is in this order: run.jsonl's,
  /// the events', that of timelines during the run, that of the files that it writes itself. A second call waits for
  /// the first one and returns the same.
  Result<void> close();

 private:
  explicit RunLog(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace headpond

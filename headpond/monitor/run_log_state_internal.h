// SPDX-License-Identifier: Apache-2.0
// What a RunLog watches, and the files that it writes.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/base/cpu.h"
#include "headpond/base/mutex.h"
#include "headpond/base/thread.h"
#include "headpond/io/file/file_writer.h"
#include "headpond/monitor/run/live_socket_internal.h"
#include "headpond/monitor/run/pipeline_watch_internal.h"
#include "headpond/monitor/run/run_trace_internal.h"
#include "headpond/monitor/run_log.h"

namespace headpond {

// Watches outlive the log, so both share it. Thread-safe.
class RunLog::State {
 public:
  State(std::string folder, RunLogOptions options);

  Result<void> open();
  int64_t add(std::optional<PipelineSource> source, std::optional<QueueSource> queue,
              const std::function<std::function<Verdict()>(int64_t id)>& verdict = {});
  void end(int64_t id);
  QueueSummary queue(int64_t id) const {
    MutexLock lock(mu_);
    return queue_of(id);
  }
  QueueSummary queue_of(int64_t id) const HEADPOND_REQUIRES(mu_) { return queues_.at(id).summary(); }
  std::vector<PipelineRecord> pipelines();
  int64_t step_now() const { return step_.load(std::memory_order_relaxed); }
  void next_step() { trace_->step_is(steps_.fetch_add(1, std::memory_order_relaxed) + 1); }
  int64_t own_step() const { return std::max(steps_.load(std::memory_order_relaxed), step_now()); }
  EventWriter* events() const { return events_.get(); }
  Result<std::vector<trace::ThreadEvents>> timeline() const { return trace_->so_far(); }
  RunFiles files() const { return {folder_, events_ ? events_->path() : "", trace_ ? trace_->path() : ""}; }
  Result<void> close();

 private:
  using Watched = std::map<int64_t, internal::PipelineWatch>;

  double seconds() const { return static_cast<double>(now_ns() - start_ns_) * 1e-9; }
  void on_sample(int64_t now);
  void look_at_threads();
  bool begins_trace();
  void trace_machine();
  void on_points(std::vector<Scalar> points, int64_t now, bool last) HEADPOND_EXCLUDES(mu_);
  int64_t find_step() HEADPOND_REQUIRES(mu_);
  int64_t least_ns() const {  // Between two points with rates.
    return std::chrono::nanoseconds(std::max(options_.write_every, options_.sample_every)).count() / 2;
  }
  RunPoint sample(std::vector<Scalar>& points, int64_t now, bool is_short) HEADPOND_REQUIRES(mu_);
  void look_at_processors(RunPoint& point, bool is_short) HEADPOND_REQUIRES(mu_);
  void look_at_memory(RunPoint& point, int64_t now) HEADPOND_REQUIRES(mu_);
  void write_points(const std::vector<Scalar>& points) HEADPOND_REQUIRES(mu_);
  void write_steps(internal::PipelineWatch& watched) HEADPOND_REQUIRES(mu_);
  void write_record(internal::PipelineWatch& watched) HEADPOND_REQUIRES(mu_);
  void write_line(const std::string& line) HEADPOND_REQUIRES(mu_);
  void open_live_socket() HEADPOND_REQUIRES(mu_);
  std::string greeting() HEADPOND_REQUIRES(mu_);
  void write_text(const std::string& tag, const std::string& text) HEADPOND_REQUIRES(mu_);
  void note(Result<void>& first, const Result<void>& done) HEADPOND_REQUIRES(mu_);
  Result<void> first_error() const HEADPOND_REQUIRES(mu_) {
    return !lines_error_ ? lines_error_ : !events_error_ ? events_error_ : trace_error_;
  }
  std::vector<MemoryUse> at_most() const {
    MutexLock lock(mu_);
    return at_most_;
  }
  Result<void> write_end_files() HEADPOND_EXCLUDES(mu_);

  const std::string folder_;
  const RunLogOptions options_;
  const int64_t start_ns_ = now_ns();
  const MemoryInfo idle_;  // As the run began.
  const RunMachine machine_;
  std::unique_ptr<EventWriter> events_;  // Null without a folder.
  std::unique_ptr<internal::RunTrace> trace_;
  std::atomic<int64_t> steps_ = 0;  // By step().
  std::atomic<int64_t> step_ = 0;   // Step of the last points.

  Mutex close_mu_;  // Held during close(); locked before mu_.
  const HomeProcess home_;
  mutable Mutex mu_;
  std::optional<FileAppender> lines_ HEADPOND_GUARDED_BY(mu_);
  std::unique_ptr<internal::LiveSocket> live_ HEADPOND_GUARDED_BY(mu_);  // Null: nobody can listen.
  Watched pipelines_ HEADPOND_GUARDED_BY(mu_);                           // By id, also those that ended.
  std::map<int64_t, QueueMonitor::Handle> queues_ HEADPOND_GUARDED_BY(mu_);
  std::map<int64_t, QueueSource> queue_sources_ HEADPOND_GUARDED_BY(mu_);  // Of queues.
  std::vector<QueueRecord> ended_queues_ HEADPOND_GUARDED_BY(mu_);         // Since the last point.
  std::vector<PipelinePoint> ended_pipelines_ HEADPOND_GUARDED_BY(mu_);    // Likewise, those that had no point.
  std::map<std::string, ReasonCode> told_ HEADPOND_GUARDED_BY(mu_);        // By name.
  PipelineRates step_rates_ HEADPOND_GUARDED_BY(mu_);
  CpuSample cpu_ HEADPOND_GUARDED_BY(mu_) = sample_cpu();
  int64_t next_id_ HEADPOND_GUARDED_BY(mu_) = 0;
  int64_t points_ HEADPOND_GUARDED_BY(mu_) = 0;
  int64_t rated_ns_ HEADPOND_GUARDED_BY(mu_) = start_ns_;
  RunPoint before_ HEADPOND_GUARDED_BY(mu_);  // The last point.
  int64_t recorded_ns_ HEADPOND_GUARDED_BY(mu_) = 0;
  int64_t looked_ns_ HEADPOND_GUARDED_BY(mu_) = 0;
  RunPoint looked_at_ HEADPOND_GUARDED_BY(mu_);  // The last one with the memory.
  int64_t most_pss_ HEADPOND_GUARDED_BY(mu_) = 0;
  std::vector<MemoryUse> at_most_ HEADPOND_GUARDED_BY(mu_);  // When that was.
  bool is_closed_ HEADPOND_GUARDED_BY(mu_) = false;
  Result<void> events_error_ HEADPOND_GUARDED_BY(mu_), lines_error_ HEADPOND_GUARDED_BY(mu_);
  Result<void> trace_error_ HEADPOND_GUARDED_BY(mu_);

  // The monitor's thread's own, once it runs.
  internal::ThreadUses threads_;
  int64_t next_threads_ns_ = 0;
  CpuSample traced_cpu_;         // At the last counters,
  uint64_t traced_session_ = 0;  // of this trace.

  std::unique_ptr<QueueMonitor> monitor_ HEADPOND_GUARDED_BY(mu_);  // Last: its thread uses the above.
};

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// The timeline of a RunLog: which steps are recorded, and when it is written.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/base/trace.h"
#include "headpond/monitor/run/trace_options.h"

namespace headpond::internal {

/// Throws Exception(InvalidArgument) iff the signal is none that a program can handle.
void check(const TraceOptions& options);

/// Thread-safe. Whatever ends it ends its recording, and no other one.
class RunTrace {
 public:
  /// Records from now on, unless the options say otherwise. `folder` exists; "": nothing is recorded.
  RunTrace(std::string folder, const TraceOptions& options);
  ~RunTrace();
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;

  /// The program is in its step `step`; the first one is 1.
  void step_is(int64_t step);
  /// Writes what a signal, or the end of the chosen steps, has asked for since the call before. One thread at a time,
  /// as finish().
  Result<void> write_asked(int64_t step);
  /// What was recorded so far, or of the chosen steps. FailedPrecondition iff the log records none: the options say so,
  /// it has no folder, finish() was called, or a later log has the trace.
  Result<std::vector<trace::ThreadEvents>> so_far() const;
  /// Ends the recording, and writes what is to be written at the end.
  Result<void> finish();
  /// The file that finish() leaves; empty if there is none, as where a later one has the trace.
  std::string path() const;

 private:
  enum class Stage : uint8_t { before, recording, recorded, written };
  class SignalHandler;

  bool has_steps() const { return options_.steps.to >= 1; }
  bool is_owner() const;
  std::string named(const std::string& stem) const { return folder_ + "/" + stem; }
  std::string chosen() const { return "timeline-" + std::to_string(options_.steps.from); }
  std::vector<trace::ThreadEvents> events(bool is_end = false) const;
  Result<void> write(const std::string& stem, const std::vector<trace::ThreadEvents>& threads) const;

  const std::string folder_;
  const TraceOptions options_;
  std::atomic<Stage> stage_ = Stage::before;
  std::vector<trace::ThreadEvents> recorded_;  // Spans of the chosen steps; under the lock of the process's trace.
  std::atomic<bool> has_file_ = false;         // At path().
  std::unique_ptr<SignalHandler> signal_;
};

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// Functions that a program passes to a training.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "headpond/monitor/progress.h"
#include "headpond/monitor/run_log.h"

namespace headpond {

struct RunHooks {
  std::stop_token stop = {};  ///< Ends the run with Cancelled within a step.
  RunLog* log = nullptr;      ///< Captures the run; not owned, outlives it. Null: nothing is written.
  bool progress = false;      ///< Shows a bar on stderr.
};

/// A training's bar. Its note is what `log`, which outlives the bar and may be null, says of the waits so far. `total`:
/// steps; below 1: unknown.
inline ProgressOptions bar_of(const RunHooks& hooks, const RunLog* log, std::string description, int64_t total) {
  ProgressOptions options{.description = std::move(description), .total = total, .enabled = hooks.progress};
  if (log != nullptr) options.note = [log] { return progress_note(log->diagnose()); };
  return options;
}

/// The log of `hooks`, or one of its own that writes nothing.
class LogOfRun {
 public:
  explicit LogOfRun(const RunHooks& hooks)
      : own_(hooks.log == nullptr ? std::move(*RunLog::open("")) : nullptr), log_(own_ ? *own_ : *hooks.log) {}
  RunLog* operator->() const { return &log_; }
  RunLog* get() const { return &log_; }

 private:
  const std::unique_ptr<RunLog> own_;
  RunLog& log_;
};

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// The hooks that are there, with TensorFlow's names, defaults and meanings:
//
//   train_and_evaluate(estimator, {.input = train, .hooks = {logging_hook(), early_stopping_hook({.metric = "loss",
//                      .max_steps_without_decrease = 1000})}}, ...);
//
// Each function throws Exception(InvalidArgument) for options that contradict themselves. Times are of `clock`, in
// nanoseconds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "headpond/base/clock.h"
#include "headpond/train/loop/hook.h"

namespace headpond {

using HookClock = std::function<int64_t()>;

/// How often something is done: every so many steps or seconds; exactly one of them.
struct Every {
  std::optional<int64_t> steps = std::nullopt;
  std::optional<double> seconds = std::nullopt;
};

/// When something is due. The first step is due.
class EveryTimer {
 public:
  /// Throws Exception(InvalidArgument), for `who`, unless exactly one of both is given, and above 0.
  EveryTimer(const std::string& who, const Every& every, HookClock clock = now_ns);
  /// Steps count from the last due one; a step that was due already isn't again.
  bool is_due(int64_t step) const;
  /// Marks `step` as the last due one. Returns the seconds and steps since the one before; nothing for the first.
  struct Since {
    int64_t steps = 0;
    double seconds = 0;
  };
  std::optional<Since> mark(int64_t step);
  /// So long the program did something else since the last due step: this time is not counted.
  void leave_out(double seconds) { at_ns_ += static_cast<int64_t>(1e9 * seconds); }
  /// Counts from `step` and from now on.
  void reset(int64_t step) { (void)mark(step); }

 private:
  Every every_;
  HookClock clock_;
  std::optional<int64_t> step_;
  int64_t at_ns_ = 0;
};

struct StopAtStepOptions {
  std::optional<int64_t> num_steps = std::nullopt;  ///< After so many steps of this run.
  std::optional<int64_t> last_step = std::nullopt;  ///< At this step. Exactly one of both.
};
std::shared_ptr<Hook> stop_at_step_hook(const StopAtStepOptions& options);

/// Writes "global_step/sec"; the time of evaluations is left out.
std::shared_ptr<Hook> step_counter_hook(const Every& every = {.steps = 100}, HookClock clock = now_ns);

/// Logs "step 100: loss 0.31, accuracy 0.9 (12.5 steps/s)" at level info; the time of evaluations is left out.
std::shared_ptr<Hook> logging_hook(const Every& every = {.steps = 100}, HookClock clock = now_ns);

/// Writes "loss" and each metric.
std::shared_ptr<Hook> summary_saver_hook(const Every& every = {.steps = 100}, HookClock clock = now_ns);

/// When the loss is not a number: an error (DataLoss), or else the training ends.
std::shared_ptr<Hook> nan_hook(bool fail_on_nan_loss = true);

struct ProfilerOptions {
  Every every = {.steps = 1000};
  std::string output_dir = "";  ///< "": the model_dir.
};
/// Records one step each time, and writes "timeline-<step>.json" (monitor/timeline.h). A trace that is being recorded
/// goes on, as that of a RunLog: the step's part of it is written. A disk that fails is a warning.
std::shared_ptr<Hook> profiler_hook(const ProfilerOptions& options = {}, HookClock clock = now_ns);

struct EarlyStoppingOptions {
  std::string metric = "loss";             ///< A metric of evaluations. An evaluation without it is an error.
  int64_t max_steps_without_decrease = 0;  ///< Above 0.
  int64_t min_steps = 0;                   ///< No stop before this step.
};
/// Ends the training when no evaluation had a lower value for so many steps. Its best value is in checkpoints. A metric
/// of no samples has no value.
std::shared_ptr<Hook> early_stopping_hook(const EarlyStoppingOptions& options);

}  // namespace headpond

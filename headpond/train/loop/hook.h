// SPDX-License-Identifier: Apache-2.0
// Hooks that a training calls around its steps: TensorFlow's session hooks. hooks.h has those of the library.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/monitor/events.h"
#include "headpond/train/loop/metric.h"

namespace headpond {

/// The numbers of hooks in a checkpoint. A hook lists each of its numbers once, by visit(), for saving and for
/// restoring.
class HookState {
 public:
  /// Empty, to save into; or read from what to_text() wrote. DataLoss for another text.
  HookState() = default;
  static Result<HookState> from_text(std::string_view text);
  std::string to_text() const;  ///< JSON: docs/formats/checkpoint.md.

  /// Which hook's numbers come next; `number` tells those of one name apart.
  void begin(std::string_view name, size_t number);
  /// Saves `value`, or sets it to what was saved; a number that was not saved stays.
  void visit(std::string_view key, int64_t& value);
  void visit(std::string_view key, double& value);  ///< All its bits.
  bool is_restoring() const { return restoring_; }
  std::vector<std::string> unasked() const;  ///< Saved keys that no visit() has asked for, in alphabetical order.

 private:
  std::string* at(std::string_view key);
  bool restoring_ = false;
  std::string prefix_;
  std::map<std::string, std::string> values_;
  std::set<std::string> asked_;
};

/// A hook's view of its training, and its requests.
class HookContext {
 public:
  int64_t step = 0;               ///< Steps done.
  std::string model_dir = "";     ///< "": none.
  EventWriter* events = nullptr;  ///< Null: there is no model_dir, or its disk has failed.
  /// One point of the chart `tag` at `step`; nothing without `events`. A disk that fails ends no training: the first
  /// error is a warning in the log, and `events` is null from then on. InvalidArgument as EventWriter::scalar.
  Result<void> scalar(std::string_view tag, double value);
  /// Ends the training after this step; asked for by a hook of the training's evaluated(), with that evaluation. A hook
  /// of EvalSpec ends only the evaluation, after this batch, or before the first one if it asks in begin(): its metrics
  /// are of the batches until then, it counts like any other, and the training goes on.
  void request_stop(std::string reason) {
    if (!stop_) stop_ = std::move(reason);
  }
  const std::optional<std::string>& stop() const { return stop_; }  ///< Why, once a hook has asked.

 private:
  std::optional<std::string> stop_;
};

/// After an evaluation.
struct Evaluation {
  int64_t step = 0;
  Metrics metrics = {};  ///< "loss" is the mean over its batches.
  double seconds = 0;    ///< Time that it took.
};

/// One thread: that of the training. Errors end the training.
class Hook {
 public:
  Hook() = default;
  virtual ~Hook() = default;
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;

  virtual std::string_view name() const = 0;
  /// Before the first step of this run; of an evaluation's hooks before each evaluation. If the training goes on from a
  /// checkpoint, visit_state() has set the numbers already: do not reset them here.
  virtual Result<void> begin(HookContext&) { return {}; }
  virtual Result<void> before_run(HookContext&) { return {}; }
  /// `context.step` counts the step that was just done.
  virtual Result<void> after_run(HookContext&, double /*loss*/, const Metrics& /*metrics*/) { return {}; }
  virtual Result<void> evaluated(HookContext&, const Evaluation&) { return {}; }
  /// After the last step, also after an error, even if begin() failed. The last checkpoint is saved after it, and the
  /// last evaluation comes after it with its call of evaluated(). An error of it is that of the training, which is
  /// saved all the same.
  virtual Result<void> end(HookContext&) { return {}; }
  /// Lists the numbers that a checkpoint keeps, each by `state.visit("count", count_)`. Called for each checkpoint, to
  /// save them, and, if the training goes on from one, once before begin(), to set them.
  virtual void visit_state(HookState&) {}
};

}  // namespace headpond

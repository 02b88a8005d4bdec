// SPDX-License-Identifier: Apache-2.0
// TensorFlow's train_and_evaluate: trains, saves, evaluates now and then, goes on where it was after an interruption.
// What is trained is a Learner; estimator.h makes one of a libtorch network.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"
#include "headpond/engine/executor/resources.h"
#include "headpond/engine/loader.h"
#include "headpond/monitor/run_log.h"
#include "headpond/train/loop/checkpoint_writer.h"
#include "headpond/train/loop/exporters.h"
#include "headpond/train/loop/hook.h"

namespace headpond {

/// The object of a training, used by one thread. Functions may throw; the training then ends with that error.
class Learner {
 public:
  Learner() = default;
  virtual ~Learner() = default;
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  struct Step {
    double loss = 0;
    Metrics metrics = {};  ///< No metric may be called "loss": InvalidArgument.
  };
  /// Changes the parameters.
  virtual Step train(const Batch& batch) = 0;
  /// Changes nothing that a later step depends on. Between begin_evaluation() and end_evaluation().
  virtual Step evaluate(const Batch& batch) = 0;
  virtual void begin_evaluation() {}
  virtual void end_evaluation() {}

  /// "layer.weight float32 [16,3,3,3]", of each parameter, in order: two that differ are not the same network.
  virtual std::vector<std::string> parameters() const = 0;
  /// All that later steps depend on, as files of a checkpoint, "model.pt" among them; a copy.
  virtual std::map<std::string, std::string> save() const = 0;
  /// Becomes what was saved. REQUIRES: equal parameters().
  virtual void restore(const std::map<std::string, std::string>& files) = 0;
  /// The version of the library that it is made with; "": none is known.
  virtual std::string version() const { return ""; }
};

struct RunConfig {
  /// Where checkpoints, charts and exports go, from the working directory at the start on if it is relative; "":
  /// nothing is written, and each run begins anew.
  std::string model_dir = "";
  std::optional<int64_t> save_steps = std::nullopt;  ///< A checkpoint at each step that is a multiple of it.
  std::optional<double> save_secs = std::nullopt;    ///< Or seconds; neither: 600 seconds; both: refused.
  int64_t keep = 5;                                  ///< The newest checkpoints, beside that of the lowest loss.
  int64_t log_steps = 100;            ///< Between lines of the log and points of "global_step/sec"; 0: none.
  int64_t summary_steps = 100;        ///< Between points of "loss" and the metrics; 0: none.
  uint64_t seed = 0;                  ///< Seed of both inputs.
  int threads = -1;                   ///< See ResourcesOptions::threads; both inputs share them.
  int64_t memory = default_memory();  ///< See ResourcesOptions::memory; both inputs share it.
  bool asynchronous_save = true;      ///< A thread writes checkpoints while the training goes on.
  bool from_scratch = false;          ///< Removes the checkpoints that are there, and begins anew.
  bool allow_new_data = false;        ///< A checkpoint of other data or another seed gives all but the position.
  /// Watches both inputs, as "train" and "eval", and has a step for each step; not owned, outlives the call. May be
  /// null.
  RunLog* log = nullptr;
  std::string log_name = "";  ///< Where several trainings share the log: the inputs are "train_<it>" and "eval_<it>".
};

/// Is called around each save of a checkpoint, with its step. An error ends the training.
struct SavingListener {
  std::function<Result<void>(int64_t step)> before_save = {};
  /// Called once all that is saved was copied. Without asynchronous_save the checkpoint is on the disk by then, else
  /// when the next save begins or the training ends. A save that fails is a warning.
  std::function<Result<void>(int64_t step)> after_save = {};
};

struct TrainSpec {
  Dataset input;
  std::optional<int64_t> max_steps = std::nullopt;  ///< In all, those before a restore included; above 0.
  std::vector<std::shared_ptr<Hook>> hooks = {};
  std::vector<SavingListener> listeners = {};
  int64_t epochs = 1;  ///< Epochs of the input; below 0: without end; not 0.
  /// Ends the training with a checkpoint: after a step or, unless the thread has an InterruptLook of its own, while it
  /// waits for a batch.
  std::stop_token stop = {};
  bool evaluates_after_stop = true;  ///< Evaluates that checkpoint. False: an evaluation in progress ends, too.
};

struct EvalSpec {
  Dataset input;
  /// Batches; none: until the input ends, which one that is known to have no end is refused for.
  std::optional<int64_t> steps = 100;
  std::string name = "";  ///< Charts are "eval/<metric>", or "eval_<name>/<metric>".
  std::vector<std::shared_ptr<Hook>> hooks = {};
  std::vector<std::shared_ptr<Exporter>> exporters = {};  ///< Each of another name; they need a model_dir.
  double start_delay_secs = 120;  ///< TensorFlow's name, for the evaluator of another process; here it has no effect.
  double throttle_secs = 600;     ///< At least so long from the begin of one evaluation to that of the next.
};

struct TrainingResult {
  Metrics metrics;                   ///< Metrics of the last evaluation.
  std::vector<std::string> exports;  ///< The files that exporters wrote after it.
};

/// Figures of a training, beside its result.
struct TrainingReport {
  std::optional<int64_t> resumed_from = std::nullopt;  ///< A step.
  int64_t last_step = 0;
  std::string why_it_ended = "";
  std::vector<CheckpointWritten> checkpoints = {};
  struct OneEvaluation {
    Evaluation evaluation;
    double first_wait_ms = 0;  ///< Wait for its first batch.
  };
  std::vector<OneEvaluation> evaluations = {};
  LoaderStats train = {}, eval = {};
};

/// Both inputs are made once and stay, and share threads and memory (engine/executor/resources.h): while one is used,
/// the threads work for it first. Each evaluation begins with the first element of its input's epoch 0, as a fresh
/// input would; what caches hold and open files stay, and its first batches are made ahead when a processor is free.
///
/// At the start the newest whole checkpoint is restored, else one of step 0 is saved. A step is: before_run of the
/// hooks, a batch, Learner::train, after_run. A checkpoint is saved at each multiple of save_steps, or every save_secs,
/// and at the end; an evaluation comes after a save (but that of step 0) if throttle_secs have passed, and at the end
/// if the last checkpoint had none. An evaluation without a batch is logged as a warning; only the exporters at the end
/// are called then. The training ends at max_steps, at the end of its input, by a hook or by the stop token. A training
/// that was interrupted goes on with the same steps, losses and evaluations as if it had not been: the evaluation that
/// was due after the save that it goes on from is made (again); one that was made only because the training ended is
/// not known to the next run, though its exports and its points of charts stay. With save_secs the saves, and so the
/// evaluations, depend on the clock.
///
/// Throws Exception(InvalidArgument) for options that contradict themselves and for null hooks and exporters, and as
/// Loader's constructor. Errors: those of the inputs, the learner and hooks; FailedPrecondition, naming the first
/// difference, for a checkpoint of other parameters, of another input or seed, and if another process writes model_dir;
/// DataLoss if it has checkpoints and none is whole; that of the last save, if it fails: others are warnings, and so is
/// a disk that is too full for charts at the start. `report`, if not null, is filled in, also when it fails.
Result<TrainingResult> train_and_evaluate(Learner& learner, const RunConfig& config, const TrainSpec& train,
                                          const EvalSpec& eval, TrainingReport* report = nullptr);

}  // namespace headpond

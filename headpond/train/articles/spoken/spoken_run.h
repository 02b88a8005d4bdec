// SPDX-License-Identifier: Apache-2.0
// The fourth article's run, whatever is trained: inputs that stay warm, that are made anew in each call, or whose
// batches are made in turn with the training; and what each evaluation reads and waits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"
#include "headpond/train/articles/spoken/spoken_data.h"
#include "headpond/train/articles/step_clock.h"
#include "headpond/train/loop/training.h"

namespace headpond {

enum class SpokenInputs : uint8_t {
  warm,   ///< train_and_evaluate: made once.
  fresh,  ///< Made anew after each evaluation, as the article's: the training's begins with another seed.
  turn,   ///< Like warm, but without threads: a batch is made when it is asked for.
};

struct SpokenRunOptions {
  SpokenInputs inputs = SpokenInputs::warm;
  int64_t epochs = 30;  ///< Epochs of the training; below 0: only max_steps ends it.
  std::optional<int64_t> max_steps = std::nullopt;
  RunConfig config = {};  ///< fresh: needs save_steps, which is the length of a call, and no model_dir.
  std::stop_token stop = {};
};

/// Throws Exception(InvalidArgument) for options that cannot be.
void check_spoken_run(const SpokenRunOptions& options);

struct SpokenEvaluation {
  Evaluation evaluation = {};
  double first_wait_ms = 0;                           ///< For its first batch.
  std::optional<double> next_wait_ms = std::nullopt;  ///< For the training's first batch after it.
  int64_t files_opened = 0, bytes_read = 0;           ///< For the test, since the end of the evaluation before.
};

struct SpokenRun {
  std::vector<double> losses = {};  ///< One for each step of this run.
  std::vector<SpokenEvaluation> evaluations = {};
  TrainingReport report = {};  ///< fresh: of the last call, with the evaluations of all.
  StepClock clock = {};
  int64_t memory_peak = 0;  ///< Peak of both inputs.
};

/// Both inputs, made by this.
struct SpokenDatasets {
  std::function<Dataset()> train;
  std::function<Dataset()> eval;
  int64_t steps_an_epoch = 0;
  std::shared_ptr<ReadCounts> eval_reads = {};  ///< Where `eval` counts.
};

/// train_and_evaluate() of what is trained, whose train step calls begin() of the run's clock.
using SpokenTrainer = std::function<Result<TrainingResult>(const RunConfig& config, const TrainSpec& train,
                                                           const EvalSpec& eval, TrainingReport& report)>;

/// Fills `run`, also when it fails; its clock is the trainer's. Throws as check_spoken_run(); else as
/// train_and_evaluate(). An evaluation follows each checkpoint.
Result<TrainingResult> run_spoken(const SpokenDatasets& datasets, const SpokenRunOptions& options,
                                  const SpokenTrainer& trainer, SpokenRun& run);

/// The article's stand-ins for what is expensive: each batch takes prepare_s, spread over its elements, which sleep or
/// compute; each step sleeps train_s. Nothing is learned, and the losses are those of the bytes that were read.
struct SpokenPace {
  double prepare_s = 0, train_s = 0;
  bool computes = false;
};
/// `so_far`, if not null, is filled in when it fails.
Result<SpokenRun> run_paced_spoken(const SpokenSets& sets, int64_t batch, const SpokenPace& pace,
                                   const SpokenRunOptions& options, SpokenRun* so_far = nullptr);
/// The least time of a step on so many processors: max(train, prepare / processors), and train where the preparation
/// sleeps.
double limit_s(const SpokenPace& pace, int processors);

}  // namespace headpond

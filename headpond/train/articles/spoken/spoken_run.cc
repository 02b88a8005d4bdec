// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/spoken/spoken_run.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <utility>

namespace headpond {
namespace {

struct SpokenStepHook final : StepHook {
  explicit SpokenStepHook(SpokenRun& to) : StepHook(to.clock, to.losses), run(to) {}
  Result<void> after_run(HookContext& context, double loss, const Metrics& metrics) override {
    if (!run.evaluations.empty() && !run.evaluations.back().next_wait_ms)
      run.evaluations.back().next_wait_ms = run.clock.last_wait_ms();
    return StepHook::after_run(context, loss, metrics);
  }
  SpokenRun& run;
};

struct EvaluationHook final : Hook {
  EvaluationHook(SpokenRun& to, const ReadCounts& of) : run(to), counts(of) {}
  std::string_view name() const override { return "evaluations"; }
  Result<void> end(HookContext&) override {
    const int64_t files_now = counts.files, bytes_now = counts.bytes;
    run.evaluations.emplace_back();
    run.evaluations.back().files_opened = files_now - std::exchange(files, files_now);
    run.evaluations.back().bytes_read = bytes_now - std::exchange(bytes, bytes_now);
    return {};
  }
  SpokenRun& run;
  const ReadCounts& counts;
  int64_t files = 0, bytes = 0;
};

struct Call {
  const SpokenDatasets& datasets;
  const SpokenRunOptions& options;
  const SpokenTrainer& trainer;
  SpokenRun& run;
  std::shared_ptr<EvaluationHook> evaluations = std::make_shared<EvaluationHook>(run, *datasets.eval_reads);

  Result<TrainingResult> train(const RunConfig& config, std::optional<int64_t> max_steps, int64_t epochs) {
    TrainingReport report;
    const size_t before = run.evaluations.size();
    auto trained =
        trainer(config,
                {.input = datasets.train(),
                 .max_steps = max_steps,
                 .hooks = {std::make_shared<SpokenStepHook>(run)},
                 .epochs = epochs,
                 .stop = options.stop,
                 .evaluates_after_stop = false},
                {.input = datasets.eval(), .steps = std::nullopt, .hooks = {evaluations}, .throttle_secs = 0}, report);
    for (size_t i = 0; i < report.evaluations.size(); ++i) {
      run.evaluations[before + i].evaluation = report.evaluations[i].evaluation;
      run.evaluations[before + i].first_wait_ms = report.evaluations[i].first_wait_ms;
    }
    run.evaluations.resize(before + report.evaluations.size());  // Without one that a stop has ended.
    run.memory_peak = std::max({run.memory_peak, report.train.memory_peak, report.eval.memory_peak});
    run.report = std::move(report);
    return trained;
  }

  // The article's: each call makes its inputs, trains to the next evaluation, and evaluates.
  Result<TrainingResult> fresh() {
    int64_t left = options.epochs < 0 ? *options.max_steps : options.epochs * datasets.steps_an_epoch;
    left = std::min(left, options.max_steps.value_or(left));
    Result<TrainingResult> trained = fail(ErrorKind::Cancelled, "a stop was requested");
    std::vector<TrainingReport::OneEvaluation> all;
    for (int64_t done = 0; left > 0 && !options.stop.stop_requested();) {
      RunConfig config = options.config;
      config.seed += static_cast<uint64_t>(done / *config.save_steps);
      trained = train(config, std::min(left, *config.save_steps), -1);
      if (!trained) return trained;
      done += run.report.last_step;
      left -= run.report.last_step;
      run.report.last_step = done;
      if (run.report.evaluations.empty()) break;  // A stop came before it.
      run.evaluations.back().evaluation.step = done;
      all.push_back(run.report.evaluations.back());
      all.back().evaluation.step = done;
    }
    run.report.evaluations = std::move(all);
    return trained;
  }
};

// To within a few microseconds of what the timer can do: Linux adds up to 50 us of slack to a sleep, to wake up less
// often.
void sleep(double seconds) {
  const int slack_ns = prctl(PR_GET_TIMERSLACK);
  prctl(PR_SET_TIMERSLACK, 1);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  prctl(PR_SET_TIMERSLACK, slack_ns);
}

double thread_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// What other processes take of the processor is not counted as work.
void compute(double seconds) {
  const double until = thread_cpu_s() + seconds;
  while (thread_cpu_s() < until) {
  }
}

class PacedLearner final : public Learner {
 public:
  PacedLearner(double step_s, StepClock& clock) : step_s_(step_s), clock_(clock) {}
  Step train(const Batch& batch) override {
    clock_.begin();
    return evaluate(batch);
  }
  Step evaluate(const Batch& batch) override {
    sleep(step_s_);
    const std::span<const int64_t> bytes = batch["bytes"].as<int64_t>();
    return {static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), int64_t{0})), {}};
  }
  std::vector<std::string> parameters() const override { return {}; }
  std::map<std::string, std::string> save() const override { return {{"model.pt", ""}}; }
  void restore(const std::map<std::string, std::string>&) override {}

 private:
  const double step_s_;
  StepClock& clock_;
};

}  // namespace

void check_spoken_run(const SpokenRunOptions& options) {
  const auto refuse = [](const std::string& what) {
    throw Exception(Error(ErrorKind::InvalidArgument, "spoken digits: " + what));
  };
  if (options.epochs < 0 && !options.max_steps) refuse("neither epochs nor max_steps ends the training");
  if (options.inputs != SpokenInputs::fresh) return;
  if (!options.config.save_steps) refuse("fresh inputs need save_steps");
  if (!options.config.model_dir.empty()) refuse("fresh inputs cannot go on from checkpoints");
}

Result<TrainingResult> run_spoken(const SpokenDatasets& datasets, const SpokenRunOptions& options,
                                  const SpokenTrainer& trainer, SpokenRun& run) {
  check_spoken_run(options);
  Call call{datasets, options, trainer, run};
  if (options.inputs == SpokenInputs::fresh) return call.fresh();
  RunConfig config = options.config;
  if (options.inputs == SpokenInputs::turn) config.threads = 0;
  return call.train(config, options.max_steps, options.epochs);
}

Result<SpokenRun> run_paced_spoken(const SpokenSets& sets, int64_t batch, const SpokenPace& pace,
                                   const SpokenRunOptions& options, SpokenRun* so_far) {
  const double element_s = pace.prepare_s / static_cast<double>(batch);
  const auto prepare = [element_s, computes = pace.computes] { computes ? compute(element_s) : sleep(element_s); };
  const auto counts = std::make_shared<ReadCounts>();
  const SpokenDatasets datasets = {
      .train = [&] { return paced_training(sets.train, batch, prepare, std::make_shared<ReadCounts>()); },
      .eval = [&] { return paced_test(sets.test, batch, prepare, counts); },
      .steps_an_epoch = (static_cast<int64_t>(sets.train.paths.size()) + batch - 1) / batch,
      .eval_reads = counts};
  SpokenRun run;
  PacedLearner learner(pace.train_s, run.clock);
  const auto trained = run_spoken(
      datasets, options,
      [&](const RunConfig& config, const TrainSpec& train, const EvalSpec& eval, TrainingReport& report) {
        return train_and_evaluate(learner, config, train, eval, &report);
      },
      run);
  if (trained && !options.stop.stop_requested()) return run;
  if (so_far != nullptr) *so_far = std::move(run);
  if (!trained) return fail(trained.error());
  return fail(ErrorKind::Cancelled, "a stop was requested");
}

double limit_s(const SpokenPace& pace, int processors) {
  return pace.computes ? std::max(pace.train_s, pace.prepare_s / processors) : pace.train_s;
}

}  // namespace headpond

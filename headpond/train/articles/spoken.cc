// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/spoken.h"

#include <torch/torch.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/whole_folder.h"
#include "headpond/train/articles/bar_hook_internal.h"
#include "headpond/train/articles/digits/tones.h"
#include "headpond/train/articles/falling_rate_internal.h"
#include "headpond/train/articles/spoken/spoken_data.h"
#include "headpond/train/estimator.h"

namespace headpond {
namespace {

namespace nn = torch::nn;

nn::Sequential network() {
  nn::Sequential net(nn::BatchNorm2d(1));
  for (const auto& [from, to] : {std::pair{1, 16}, {16, 32}, {32, 64}}) {
    net->push_back(nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(1)));
    net->push_back(nn::MaxPool2d(2));  // First, so that the others have a quarter to do.
    net->push_back(nn::BatchNorm2d(to));
    net->push_back(nn::ReLU());
  }
  net->push_back(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({1, 5})));
  net->push_back(nn::Flatten());
  net->push_back(nn::Linear(64 * 5, 10));
  return net;
}

// One network and what it says.
struct Learning {
  nn::Sequential& net;
  SpokenResult& result;
  int64_t evaluated = 0;  // The number of evaluations that `result.confusion` is of.

  void count(const torch::Tensor& label, const torch::Tensor& said) {
    if (const auto number = static_cast<int64_t>(result.run.evaluations.size());
        std::exchange(evaluated, number) != number)
      result.confusion = {};
    for (int64_t i = 0; i < label.numel(); ++i) {
      const auto is = static_cast<size_t>(label[i].item<int64_t>()),
                 says = static_cast<size_t>(said[i].item<int64_t>());
      ++result.confusion[is][says];
    }
  }
  StepOutput step(const TorchBatch& batch, Mode mode) {
    if (mode == Mode::train) result.run.clock.begin();
    const torch::Tensor scores = net->forward(batch["sound"].unsqueeze(1)), label = batch["label"];
    const torch::Tensor said = scores.argmax(1);
    if (mode == Mode::eval) count(label, said);
    const auto hits = (said == label).sum().item<double>();
    return {.loss = nn::functional::cross_entropy(scores, label),
            .metrics = {{"accuracy", {hits, static_cast<double>(label.numel())}}}};
  }
};

Result<std::string> folder_of(const SpokenOptions& options) {
  if (!options.folder.empty()) return options.folder;
  const auto cache = cache_folder();
  if (!cache) return fail(cache.error());
  std::string folder = *cache + "/tones-v1";
  HEADPOND_TRY(make_whole_folder(folder, [](const std::string& partial) { return draw_tones(partial); }));
  return folder;
}

SpokenDatasets datasets_of(const SpokenSets& sets, int64_t batch) {
  const auto counts = std::make_shared<ReadCounts>();
  return {.train = [&sets, batch] { return spoken_training(sets.train, batch, std::make_shared<ReadCounts>()); },
          .eval = [&sets, batch, counts] { return spoken_test(sets.test, batch, counts); },
          .steps_an_epoch = (static_cast<int64_t>(sets.train.paths.size()) + batch - 1) / batch,
          .eval_reads = counts};
}

Result<void> learn(const SpokenOptions& options, const SpokenRunOptions& run, const SpokenSets& sets,
                   const RunHooks& hooks, SpokenResult& result) {
  torch::set_num_threads(options.torch_threads);
  torch::manual_seed(run.config.seed);
  nn::Sequential net = network();
  for (const torch::Tensor& parameter : net->parameters()) result.parameters += parameter.numel();
  torch::optim::Adam adam(net->parameters(), options.lr);
  Learning learning{net, result};
  const SpokenDatasets datasets = datasets_of(sets, options.batch);
  const int64_t steps = run.epochs < 0 ? run.max_steps.value_or(1) : run.epochs * datasets.steps_an_epoch;
  const auto rate = std::make_shared<internal::FallingRate>(adam, options.lr, steps, result.run.losses);
  const auto bar = std::make_shared<internal::BarHook>(hooks, "spoken", std::min(steps, run.max_steps.value_or(steps)));
  const SpokenTrainer trainer = [&](const RunConfig& config, const TrainSpec& train, const EvalSpec& eval,
                                    TrainingReport& report) {
    TrainSpec falling = train;
    falling.hooks.push_back(rate);
    falling.hooks.push_back(bar);
    Estimator estimator({.model = net,
                         .optimizer = adam,
                         .step = [&](const TorchBatch& batch, Mode mode) { return learning.step(batch, mode); },
                         .config = config});
    auto trained = train_and_evaluate(estimator, falling, eval);
    report = estimator.report();
    return trained;
  };
  const auto trained = run_spoken(datasets, run, trainer, result.run);
  if (!trained) return fail(trained.error());
  if (const auto found = trained->metrics.find("accuracy"); found != trained->metrics.end())
    result.accuracy = found->second.value();
  return {};
}

Result<void> pace(const SpokenOptions& options, const SpokenRunOptions& run, const SpokenSets& sets,
                  SpokenResult& result) {
  auto ran = run_paced_spoken(sets, options.batch, *options.pace, run, &result.run);
  if (!ran) return fail(ran.error());
  result.run = std::move(*ran);
  return {};
}

}  // namespace

Result<SpokenResult> train_spoken(const SpokenOptions& options, const RunHooks& hooks, SpokenResult* so_far) {
  const auto folder = folder_of(options);
  if (!folder) return fail(folder.error());
  auto sets = find_spoken(*folder, options.leave_speaker);
  if (!sets) return fail(sets.error());
  if (options.shift_labels) {
    for (int64_t& label : sets->train.labels) label = (label + 1) % 10;
  }
  SpokenRunOptions run = options.run;
  run.config.log = hooks.log;
  run.stop = hooks.stop;
  SpokenResult result{.train_files = static_cast<int64_t>(sets->train.paths.size()),
                      .test_files = static_cast<int64_t>(sets->test.paths.size())};
  const int64_t begin = now_ns();
  auto ran = options.pace ? pace(options, run, *sets, result) : learn(options, run, *sets, hooks, result);
  result.wall_s = 1e-9 * static_cast<double>(now_ns() - begin);
  if (ran && hooks.stop.stop_requested()) ran = fail(ErrorKind::Cancelled, "a stop was requested");
  if (ran) return result;
  if (so_far != nullptr) *so_far = std::move(result);
  return fail(ran.error());
}

}  // namespace headpond

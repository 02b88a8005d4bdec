// SPDX-License-Identifier: Apache-2.0
// Trains a libtorch network with train_and_evaluate (train/loop/training.h):
//
//   const auto step = [&](const TorchBatch& batch, Mode) -> StepOutput {
//     return {.loss = torch::nn::functional::cross_entropy(net(batch["image"]), batch["label"])};
//   };
//   Estimator estimator({.model = net, .optimizer = adam, .step = step, .config = {.model_dir = "run"}});
//   auto [metrics, exports] = *train_and_evaluate(estimator, {.input = train, .max_steps = 4500}, {.input = eval});
#pragma once

#include <torch/torch.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/train/loop/training.h"
#include "headpond/train/torch_batch.h"

namespace headpond {

enum class Mode : uint8_t { train, eval };

/// The result of a step.
struct StepOutput {
  torch::Tensor loss;    ///< One value; in training it is what backward() begins with.
  Metrics metrics = {};  ///< Sums and counts: {{"accuracy", {hits, count}}}.
};

/// A network: a shared pointer to it, or torch's holder of one.
class ModelRef {
 public:
  template <class Net>
    requires std::is_base_of_v<torch::nn::Module, Net>
  ModelRef(std::shared_ptr<Net> net) : module_(std::move(net)) {}
  template <class Net>
  ModelRef(const torch::nn::ModuleHolder<Net>& holder) : module_(held(holder)) {}
  template <class Holder>
    requires std::is_base_of_v<torch::nn::ModuleHolder<typename Holder::ContainedType>, Holder>
  ModelRef(const Holder& holder) : module_(held(holder)) {}
  torch::nn::Module& operator*() const { return *module_; }
  torch::nn::Module* operator->() const { return module_.get(); }
  explicit operator bool() const { return module_ != nullptr; }  ///< False of a null pointer and of an empty holder.

 private:
  // ptr() of an empty holder throws an error of libtorch.
  template <class Holder>
  static std::shared_ptr<torch::nn::Module> held(const Holder& holder) {
    if (holder.is_empty()) return nullptr;
    return holder.ptr();
  }
  std::shared_ptr<torch::nn::Module> module_;
};

struct EstimatorOptions {
  ModelRef model;
  torch::optim::Optimizer& optimizer;  ///< Updates the model's parameters. Outlives the Estimator.
  /// Computes the loss of a batch; calls neither backward() nor the optimiser. In Mode::eval the model is in eval mode,
  /// no gradients are recorded, and random numbers that it draws change none of the training's.
  std::function<StepOutput(const TorchBatch& batch, Mode mode)> step;
  RunConfig config = {};
};

/// One thread at a time.
class Estimator {
 public:
  /// Throws Exception(InvalidArgument) if there is no step or no model.
  explicit Estimator(EstimatorOptions options);
  ~Estimator();
  Estimator(const Estimator&) = delete;
  Estimator& operator=(const Estimator&) = delete;

  const RunConfig& config() const;
  /// The report of the last train_and_evaluate().
  const TrainingReport& report() const;

 private:
  friend Result<TrainingResult> train_and_evaluate(Estimator& estimator, const TrainSpec& train, const EvalSpec& eval);
  struct State;
  std::unique_ptr<State> state_;
};

/// Like train_and_evaluate() of a Learner. What the step throws ends the training as an error. With one torch thread an
/// interrupted training goes on with bitwise the same losses, in the same build of libtorch on the same machine: the
/// optimizer's options (its learning rate, say) are those of the checkpoint then, and only the random state of the
/// processor is restored, not that of devices. FailedPrecondition for the checkpoint of an optimizer of another kind.
Result<TrainingResult> train_and_evaluate(Estimator& estimator, const TrainSpec& train, const EvalSpec& eval);

}  // namespace headpond

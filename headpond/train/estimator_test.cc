// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/estimator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "headpond/dataset/ops.h"
#include "headpond/train/loop/hooks.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::TempFolder;
using testing::HasSubstr;
using testing::Not;

struct NetImpl : torch::nn::Module {
  explicit NetImpl(int64_t hidden = 8)
      : first(register_module("first", torch::nn::Linear(2, hidden))),
        norm(register_module("norm", torch::nn::BatchNorm1d(hidden))),
        drop(register_module("drop", torch::nn::Dropout(0.3))),
        last(register_module("last", torch::nn::Linear(hidden, 2))) {}
  torch::Tensor forward(const torch::Tensor& x) { return last(drop(torch::relu(norm(first(x))))); }
  torch::nn::Linear first;
  torch::nn::BatchNorm1d norm;
  torch::nn::Dropout drop;
  torch::nn::Linear last;
};
TORCH_MODULE(Net);

// f32 "x" [8, 2] and i64 "label" [8]: whether the first is larger.
Dataset points() {
  return range(48) |
         map(
             [](const Element& e) -> Result<Element> {
               const int64_t i = e[0].item<int64_t>();
               const std::vector<float> x = {static_cast<float>(i * 7 % 11), static_cast<float>(i * 5 % 13)};
               return Element{Tensor::from(x, {2}), Tensor::scalar(int64_t{x[0] > x[1]})};
             },
             {.output = Spec{{"x", f32, {2}}, {"label", i64, {}}}, .name = "points"}) |
         shuffle() | batch(8, {.drop_remainder = true});
}

// A training from scratch, or from what is in `folder`.
struct Trained {
  std::vector<double> losses;
  TrainingReport report;
  Result<TrainingResult> result;
};

struct Recorder final : Hook {
  explicit Recorder(std::vector<double>& losses) : losses_(losses) {}
  std::string_view name() const override { return "recorder"; }
  Result<void> after_run(HookContext&, double loss, const Metrics&) override {
    losses_.push_back(loss);
    return {};
  }
  std::vector<double>& losses_;
};

Trained train(const std::string& folder, int64_t steps, int64_t hidden = 8, bool with_adam = true) {
  torch::set_num_threads(1);
  torch::manual_seed(5);
  Net net(hidden);
  torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(0.05));
  torch::optim::AdamW adam_w(net->parameters(), torch::optim::AdamWOptions(0.05));
  const auto step = [&](const TorchBatch& batch, Mode mode) -> StepOutput {
    EXPECT_EQ(net->is_training(), mode == Mode::train);
    EXPECT_EQ(torch::GradMode::is_enabled(), mode == Mode::train);
    if (mode == Mode::eval) (void)torch::rand({3});  // Must not change the training.
    const auto scores = net(batch["x"]);
    const double hits = (scores.argmax(1) == batch["label"]).sum().item<double>();
    return {.loss = torch::nn::functional::cross_entropy(scores, batch["label"]),
            .metrics = {{"accuracy", {hits, static_cast<double>(batch["label"].size(0))}}}};
  };
  Estimator estimator({.model = net,
                       .optimizer = with_adam ? static_cast<torch::optim::Optimizer&>(adam) : adam_w,
                       .step = step,
                       .config = {.model_dir = folder, .save_steps = 20, .seed = 3, .threads = 1}});
  Trained trained;
  trained.result = train_and_evaluate(
      estimator,
      {.input = points(),
       .max_steps = 60,
       .hooks = {std::make_shared<Recorder>(trained.losses), stop_at_step_hook({.num_steps = steps})},
       .epochs = -1},
      {.input = points(), .throttle_secs = 0});
  trained.report = estimator.report();
  return trained;
}

TEST(Estimator, TrainsEvaluatesAndGoesOnBitwise) {
  const TempFolder temp, parts;
  const Trained whole = train(temp.path(), 1000);
  ASSERT_TRUE(whole.result) << whole.result.error();
  EXPECT_EQ(whole.losses.size(), 60U);
  EXPECT_GT(whole.result->metrics.at("accuracy").value(), 0.9) << "48 points, seen 10 times";
  EXPECT_EQ(whole.result->metrics.at("accuracy").count, 48);
  const Trained first = train(parts.path(), 33), second = train(parts.path(), 1000);
  EXPECT_EQ(second.report.resumed_from, 33);
  std::vector<double> joined = first.losses;
  joined.insert(joined.end(), second.losses.begin(), second.losses.end());
  EXPECT_EQ(joined, whole.losses);
  EXPECT_EQ(second.result->metrics, whole.result->metrics);
  const Trained none = train("", 1000);
  EXPECT_EQ(none.losses, whole.losses) << "checkpoints change nothing";
}

TEST(Estimator, ACheckpointOfAnotherNetworkIsRefused) {
  const TempFolder temp;
  ASSERT_TRUE(train(temp.path(), 1).result);
  const Trained other = train(temp.path(), 1, 9);
  ASSERT_FALSE(other.result);
  EXPECT_EQ(other.result.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(
      other.result.error().message(),
      HasSubstr("parameter 0 is first.weight float32 [8,2] in the checkpoint, and first.weight float32 [9,2] here"));
}

TEST(Estimator, ANullModelIsRefused) {
  torch::nn::Linear net(2, 2);
  torch::optim::SGD sgd(net->parameters(), 0.1);
  const auto step = [](const TorchBatch&, Mode) -> StepOutput { return {}; };
  EXPECT_THROW(Estimator({.model = std::shared_ptr<NetImpl>(), .optimizer = sgd, .step = step}), Exception);
  EXPECT_THROW(Estimator({.model = Net(nullptr), .optimizer = sgd, .step = step}), Exception);
  EXPECT_NO_THROW(Estimator({.model = net, .optimizer = sgd, .step = step})) << "control";
}

// Adam and AdamW have the same names in their archives.
TEST(Estimator, ACheckpointOfAnotherOptimizerIsRefused) {
  const TempFolder temp;
  ASSERT_TRUE(train(temp.path(), 1).result);
  const Trained other = train(temp.path(), 1, 8, false);
  ASSERT_FALSE(other.result);
  EXPECT_EQ(other.result.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(other.result.error().message(), HasSubstr("torch::optim::Adam, and here it is torch::optim::AdamW"));
  EXPECT_TRUE(train(temp.path(), 1).result) << "control";
}

TEST(Estimator, WhatTheStepThrowsIsTheError) {
  torch::nn::Linear net(2, 2);
  torch::optim::SGD sgd(net->parameters(), 0.1);
  const auto run = [&](std::function<StepOutput(const TorchBatch&, Mode)> step) {
    Estimator estimator({.model = net, .optimizer = sgd, .step = std::move(step), .config = {.threads = 0}});
    return train_and_evaluate(estimator, {.input = points(), .max_steps = 2}, {.input = points()}).error();
  };
  const Error wrong = run([&](const TorchBatch& batch, Mode) -> StepOutput { return {net(batch["y"]).sum()}; });
  EXPECT_EQ(wrong.kind(), ErrorKind::InvalidArgument);
  EXPECT_THAT(wrong.message(), HasSubstr("no field 'y'; there are: x, label"));
  EXPECT_EQ(run([&](const TorchBatch& batch, Mode) -> StepOutput { return {net(batch["x"])}; }).kind(),
            ErrorKind::InvalidArgument)
      << "a loss of many values";
  for (const Mode at : {Mode::train, Mode::eval}) {
    const Error sizes = run([&](const TorchBatch& batch, Mode mode) -> StepOutput {
      return {net(mode == at ? torch::ones({2, 3}) : batch["x"]).sum()};
    });
    EXPECT_EQ(sizes.kind(), ErrorKind::Unknown);
    EXPECT_THAT(sizes.message(), HasSubstr("mat1 and mat2 shapes cannot be multiplied"));
    EXPECT_THAT(sizes.message(), Not(HasSubstr("frame #"))) << "libtorch's stack";
  }
  EXPECT_THROW(run(nullptr), Exception);
}

}  // namespace
}  // namespace headpond

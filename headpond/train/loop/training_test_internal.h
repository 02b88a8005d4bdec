// SPDX-License-Identifier: Apache-2.0
// Something small that learns.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/ops.h"
#include "headpond/train/loop/hooks.h"
#include "headpond/train/loop/training.h"

namespace headpond::internal {

/// Each loss depends on all batches before it, on the weight, on a moment and on a random state, as those of a network
/// do. A part of it can be left out of checkpoints.
class Toy final : public Learner {
 public:
  std::string left_out = "";
  std::string metric = "sum";
  std::vector<std::string> shapes = {"weight float64 []"};
  std::vector<double> losses;
  int evaluations = 0;

  Step train(const Batch& batch) override {
    double sum = 0;
    for (const int64_t x : batch[0].as<int64_t>()) sum += static_cast<double>(x);
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    moment_ = 0.9 * moment_ + sum;
    weight_ = 0.99 * weight_ - 0.001 * moment_ + static_cast<double>(random_ >> 60);
    losses.push_back(weight_);
    return {weight_, {{metric, {sum, 1}}}};
  }
  Step evaluate(const Batch& batch) override {
    EXPECT_TRUE(is_evaluating_);
    return {weight_ + static_cast<double>(batch[0].as<int64_t>()[0]), {{"size", {2, 1}}}};
  }
  void begin_evaluation() override {
    ++evaluations;
    is_evaluating_ = true;
  }
  void end_evaluation() override { is_evaluating_ = false; }
  std::vector<std::string> parameters() const override { return shapes; }
  std::map<std::string, std::string> save() const override {
    return {{"model.pt", text(weight_)}, {"optimizer.pt", text(moment_)}, {"random.bin", text(random_)}};
  }
  void restore(const std::map<std::string, std::string>& files) override {
    read("model.pt", files, weight_);
    read("optimizer.pt", files, moment_);
    read("random.bin", files, random_);
  }

 private:
  template <class T>
  static std::string text(T value) {
    return {reinterpret_cast<const char*>(&value), sizeof(value)};
  }
  template <class T>
  void read(const std::string& name, const std::map<std::string, std::string>& files, T& value) {
    if (name != left_out) std::memcpy(&value, files.at(name).data(), sizeof(value));
  }
  double weight_ = 0, moment_ = 0;
  uint64_t random_ = 1;
  bool is_evaluating_ = false;
};

/// 5 batches an epoch.
inline Dataset numbers() { return range(10) | shuffle() | batch(2); }

/// A training and what came of it.
struct Played {
  Toy toy;
  TrainingReport report;
  Result<TrainingResult> result;
};

/// Trains 23 steps, or `steps` more and then stops; a checkpoint each 4 steps, an evaluation after each.
inline void play(Played& played, RunConfig config, int64_t steps = 1000, std::vector<std::shared_ptr<Hook>> hooks = {},
                 std::vector<std::shared_ptr<Exporter>> exporters = {}, const Dataset& input = numbers()) {
  if (!config.save_steps) config.save_steps = 4;
  config.log_steps = config.summary_steps = 0;
  config.threads = 1;
  hooks.push_back(stop_at_step_hook({.num_steps = steps}));
  played.result = train_and_evaluate(
      played.toy, config, {.input = input, .max_steps = 23, .hooks = std::move(hooks), .epochs = -1},
      {.input = range(6) | batch(2), .exporters = std::move(exporters), .throttle_secs = 0}, &played.report);
}

/// Its evaluations as text, all bits of their losses.
inline std::vector<std::string> lines(const TrainingReport& report) {
  std::vector<std::string> all;
  for (const auto& one : report.evaluations)
    all.push_back(fmt::format("{}: {:a}", one.evaluation.step, one.evaluation.metrics.at("loss").value()));
  return all;
}

/// The newest checkpoint in `model_dir` gets the position of a training on numbers() that has not begun.
inline void forget_position(const std::string& model_dir) {
  auto folder = value_or_throw(CheckpointFolder::open(model_dir));
  auto newest = value_or_throw(folder.newest());
  ASSERT_TRUE(newest);
  newest->files["data.state"] = Loader(numbers(), {.epochs = -1}).state();
  ASSERT_TRUE(folder.write(*newest));
}

}  // namespace headpond::internal

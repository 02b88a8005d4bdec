// SPDX-License-Identifier: Apache-2.0
// Something small that learns.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "headpond/dataset/ops.h"
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

/// The newest checkpoint in `model_dir` gets the position of a training on numbers() that has not begun.
inline void forget_position(const std::string& model_dir) {
  auto folder = value_or_throw(CheckpointFolder::open(model_dir));
  auto newest = value_or_throw(folder.newest());
  ASSERT_TRUE(newest);
  newest->files["data.state"] = Loader(numbers(), {.epochs = -1}).state();
  ASSERT_TRUE(folder.write(*newest));
}

}  // namespace headpond::internal

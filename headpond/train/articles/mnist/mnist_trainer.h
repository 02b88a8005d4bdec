// SPDX-License-Identifier: Apache-2.0
// Trains the digit network, one update a batch, and measures its accuracy on the test set.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <stop_token>

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"
#include "headpond/train/articles/mnist/mnist_data.h"
#include "headpond/train/articles/models.h"

namespace headpond {

enum class LossReduction : uint8_t { mean, sum };  ///< Over the samples of a batch.

struct MnistRecipe {
  double lr = 1e-3;
  LossReduction loss = LossReduction::mean;
  bool train_batch_norm = true;  ///< False: batch norm uses its initial statistics throughout.
  uint64_t seed = 7;

  /// The recipe that the article published.
  static MnistRecipe article(uint64_t seed) {
    return {.lr = 1e-4, .loss = LossReduction::sum, .train_batch_norm = false, .seed = seed};
  }
};

/// Cross-entropy on logits, Adam. One thread.
class MnistTrainer {
 public:
  explicit MnistTrainer(const MnistRecipe& recipe);

  struct Step {
    float loss;       ///< Before the update, reduced as the recipe says.
    int64_t correct;  ///< Correct samples before the update.
  };
  /// `batch`: f32 [n, 28, 28] and i64 [n]. An exception of torch becomes an error.
  Result<Step> step(const Element& batch);

  struct Score {
    double accuracy;
    double loss;  ///< Mean over the samples.
  };
  /// Scores the present weights on the test set. Cancelled iff `stop` was requested.
  Result<Score> validate(const MnistData& data, const std::stop_token& stop = {});

 private:
  const MnistRecipe recipe_;
  MnistNet net_;
  torch::optim::Adam adam_;
};

}  // namespace headpond

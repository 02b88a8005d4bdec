// SPDX-License-Identifier: Apache-2.0
// One network with its optimiser, and the measurements of one mode of a BLSTM run.
#pragma once

#include <torch/torch.h>

#include <stop_token>
#include <vector>

#include "headpond/train/articles/blstm.h"
#include "headpond/train/articles/models.h"

namespace headpond::internal {

class BlstmTrainer {
 public:
  explicit BlstmTrainer(const BlstmOptions& options)
      : net_(options.features, options.hidden, options.seed), adam_(net_.parameters(), adam_options(options.lr)) {}

  /// One update on f32 [time, batch, features]; returns the loss before it. The label of a sample is whether the sum
  /// over it is positive. Cancelled iff `stop` was requested, also between forward and backward.
  Result<float> step(const Tensor& batch, const std::stop_token& stop);

 private:
  Blstm net_;
  torch::optim::Adam adam_;
};

/// One step of the trainer, in nanoseconds.
struct BlstmStep {
  int64_t step_ns, wait_ns, stopwatch_ns;
  bool first_of_block;
};

/// The measurements of one mode. The producer's thread writes `generated`, the trainer's thread the rest.
struct BlstmLog {
  std::vector<BlstmStep> steps;
  std::vector<int64_t> generated;
  std::vector<float> losses;
  std::vector<uint32_t> digests;

  /// Means over the steps from `first_step` and the batches from `first_batch` on.
  BlstmMode mode(size_t first_step = 0, size_t first_batch = 0) const;
};

double median(std::vector<double> values);

}  // namespace headpond::internal

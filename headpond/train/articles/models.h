// SPDX-License-Identifier: Apache-2.0
// The articles' networks. Both are initialised as TensorFlow's layers are (Glorot-uniform kernels, zero biases),
// because torch's initialisation does not reproduce the articles' figures.
//
// A network is a pure function of its seed: the same seed gives the same bits in every parameter. Not thread-safe.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace headpond {

/// TensorFlow's epsilon in batch norm and in Adam (torch's defaults are 1e-5 and 1e-8), and its moving average of 0.99.
constexpr double kBatchNormEpsilon = 1e-3;
constexpr double kBatchNormMomentum = 0.01;
constexpr double kAdamEpsilon = 1e-8;

torch::optim::AdamOptions adam_options(double lr);

/// Small network for 28x28 digits: four convolutions 3x3 "same" (4, 8, 8, 8 channels), each followed by ReLU and then
/// batch norm; max pool 2x2 after the first, the second and the fourth; dense 64 with ReLU; dense 10.
class MnistNet : public torch::nn::Module {
 public:
  static constexpr int64_t kParameters = 6882;  ///< Trainable values

  explicit MnistNet(uint64_t seed);

  /// images: f32 [n, 1, 28, 28] in 0..1. Returns logits [n, 10]. In eval() mode batch norm uses its moving statistics,
  /// which are mean 0 and variance 1 if the network was never in train() mode; gradients flow in both modes.
  torch::Tensor forward(const torch::Tensor& images);

 private:
  torch::nn::Conv2d conv_[4] = {nullptr, nullptr, nullptr, nullptr};
  torch::nn::BatchNorm2d norm_[4] = {nullptr, nullptr, nullptr, nullptr};
  torch::nn::Linear hidden_{nullptr}, output_{nullptr};
};

/// Bidirectional LSTM, the outputs of both directions averaged over time, one linear unit. Its kernels are
/// Glorot-uniform over the joint [input + hidden, 4 x hidden] matrix and its forget gates start with a bias of 1, as in
/// TensorFlow's cell.
class Blstm : public torch::nn::Module {
 public:
  Blstm(int64_t features, int64_t hidden, uint64_t seed);

  /// samples: f32 [time, n, features]. Returns one logit a sample, [n].
  torch::Tensor forward(const torch::Tensor& samples);

 private:
  torch::nn::LSTM lstm_{nullptr};
  torch::nn::Linear output_{nullptr};
};

/// Number of trainable values.
int64_t parameter_count(const torch::nn::Module& model);

}  // namespace headpond

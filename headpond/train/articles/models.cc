// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/models.h"

#include <ATen/CPUGeneratorImpl.h>

#include <array>
#include <cmath>
#include <string>

namespace headpond {
namespace {

constexpr std::array<int64_t, 5> kChannels = {1, 4, 8, 8, 8};
constexpr int64_t kKernel = 3;
constexpr int64_t kPooled = 3 * 3 * kChannels[4];
constexpr int64_t kHidden = 64;
constexpr int64_t kClasses = 10;

void glorot(torch::Tensor weight, int64_t fan_in, int64_t fan_out, at::Generator& generator) {
  const double limit = std::sqrt(6.0 / static_cast<double>(fan_in + fan_out));
  weight.uniform_(-limit, limit, generator);
}

void glorot(torch::nn::Linear& dense, at::Generator& generator) {
  glorot(dense->weight, dense->weight.size(1), dense->weight.size(0), generator);
  dense->bias.zero_();
}

}  // namespace

torch::optim::AdamOptions adam_options(double lr) { return torch::optim::AdamOptions(lr).eps(kAdamEpsilon); }

MnistNet::MnistNet(uint64_t seed) {
  torch::NoGradGuard no_grad;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  for (size_t i = 0; i < 4; ++i) {
    const int64_t in = kChannels[i], out = kChannels[i + 1];
    const std::string number = std::to_string(i + 1);
    conv_[i] =
        register_module("conv" + number, torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, kKernel).padding(1)));
    glorot(conv_[i]->weight, in * kKernel * kKernel, out * kKernel * kKernel, generator);
    conv_[i]->bias.zero_();
    norm_[i] = register_module(
        "norm" + number,
        torch::nn::BatchNorm2d(torch::nn::BatchNorm2dOptions(out).eps(kBatchNormEpsilon).momentum(kBatchNormMomentum)));
  }
  hidden_ = register_module("hidden", torch::nn::Linear(kPooled, kHidden));
  output_ = register_module("output", torch::nn::Linear(kHidden, kClasses));
  glorot(hidden_, generator);
  glorot(output_, generator);
}

torch::Tensor MnistNet::forward(const torch::Tensor& images) {
  torch::Tensor x = images;
  for (size_t i = 0; i < 4; ++i) {
    x = norm_[i](torch::relu(conv_[i](x)));
    if (i != 2) x = torch::max_pool2d(x, 2);
  }
  return output_(torch::relu(hidden_(x.flatten(1))));
}

Blstm::Blstm(int64_t features, int64_t hidden, uint64_t seed) {
  torch::NoGradGuard no_grad;
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  lstm_ = register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(features, hidden).bidirectional(true)));
  for (auto& named : lstm_->named_parameters()) {
    if (named.key().find("weight") != std::string::npos) {
      glorot(named.value(), features + hidden, 4 * hidden, generator);
    } else {
      named.value().zero_();
      // Gates are stored input, forget, cell, output; the two biases of a gate are added, so one of them carries the 1.
      if (named.key().find("bias_ih") != std::string::npos) named.value().slice(0, hidden, 2 * hidden).fill_(1.0F);
    }
  }
  output_ = register_module("output", torch::nn::Linear(2 * hidden, 1));
  glorot(output_, generator);
}

torch::Tensor Blstm::forward(const torch::Tensor& samples) {
  const torch::Tensor states = std::get<0>(lstm_(samples));
  return output_(states.mean(0)).squeeze(1);
}

int64_t parameter_count(const torch::nn::Module& model) {
  int64_t count = 0;
  for (const auto& parameter : model.parameters()) {
    if (parameter.requires_grad()) count += parameter.numel();
  }
  return count;
}

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/models.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headpond {
namespace {

double largest(const torch::Tensor& values) { return values.abs().max().item<double>(); }

TEST(MnistNet, HasThePublishedNumberOfParameters) {
  EXPECT_EQ(parameter_count(MnistNet(1)), MnistNet::kParameters);
  EXPECT_EQ(MnistNet::kParameters, 6882);
}

TEST(MnistNet, GivesOneLogitAClass) {
  EXPECT_EQ(MnistNet(1).forward(torch::rand({3, 1, 28, 28})).sizes(), torch::IntArrayRef({3, 10}));
}

TEST(MnistNet, StartsAsTensorFlowsLayersDo) {
  MnistNet net(1);
  const auto parameters = net.named_parameters();
  // Glorot: the limit is sqrt(6 / (fan in + fan out)), and 36 values come close to it.
  const double limit = std::sqrt(6.0 / (1 * 9 + 4 * 9));
  EXPECT_LE(largest(parameters["conv1.weight"]), limit);
  EXPECT_GE(largest(parameters["conv1.weight"]), 0.8 * limit);
  EXPECT_LE(largest(parameters["hidden.weight"]), std::sqrt(6.0 / (72 + 64)));
  for (const char* name : {"conv1.bias", "conv4.bias", "hidden.bias", "output.bias", "norm1.bias"}) {
    EXPECT_EQ(largest(parameters[name]), 0.0) << name;
  }
  EXPECT_TRUE(parameters["norm4.weight"].equal(torch::ones({8})));
}

TEST(MnistNet, IsAFunctionOfItsSeed) {
  MnistNet a(5), b(5), other(6);
  const auto images = torch::rand({2, 1, 28, 28});
  EXPECT_TRUE(a.forward(images).equal(b.forward(images)));
  EXPECT_FALSE(a.forward(images).equal(other.forward(images)));
}

TEST(MnistNet, BatchNormThatNeverTrainedHasGradientsAndDividesByTheRootOfOnePlusEpsilon) {
  MnistNet net(1);
  net.eval();
  net.forward(torch::rand({4, 1, 28, 28})).sum().backward();
  for (const auto& parameter : net.named_parameters()) {
    EXPECT_TRUE(parameter.value().grad().defined()) << parameter.key();
  }
  const auto buffers = net.named_buffers();
  EXPECT_TRUE(buffers["norm1.running_mean"].equal(torch::zeros({4})));
  EXPECT_TRUE(buffers["norm1.running_var"].equal(torch::ones({4})));
}

TEST(MnistNet, BatchNormComesAfterReluSoThatAShiftPassesUnclipped) {
  MnistNet net(1);
  net.eval();
  torch::NoGradGuard no_grad;
  // With all kernels zero and a shift of -1, ReLU before batch norm leaves -1; ReLU after it would leave 0.
  for (auto& parameter : net.named_parameters()) {
    if (parameter.key() == "norm4.bias") {
      parameter.value().fill_(-1);
    } else if (parameter.key() == "hidden.weight" || parameter.key() == "output.weight") {
      parameter.value().fill_(-1);
    } else {
      parameter.value().zero_();
    }
  }
  EXPECT_FLOAT_EQ(net.forward(torch::zeros({1, 1, 28, 28}))[0][0].item<float>(), -72.0F * 64.0F);
}

TEST(Blstm, GivesOneLogitASampleWhateverTheTimeAxis) {
  Blstm net(5, 3, 1);
  EXPECT_EQ(net.forward(torch::randn({7, 4, 5})).sizes(), torch::IntArrayRef({4}));
  // Two directions of 4 gates x 3 units x (5 inputs + 3 states + 2 biases), and the unit at the end.
  EXPECT_EQ(parameter_count(net), 2 * 4 * 3 * (5 + 3 + 2) + 7);
}

TEST(Blstm, StartsWithOpenForgetGates) {
  Blstm net(5, 3, 1);
  for (const char* direction : {"", "_reverse"}) {
    const auto bias = net.named_parameters()[std::string("lstm.bias_ih_l0") + direction];
    EXPECT_TRUE(bias.slice(0, 3, 6).equal(torch::ones({3})));
    EXPECT_EQ(bias.sum().item<float>(), 3.0F);
  }
}

TEST(Blstm, IsAFunctionOfItsSeed) {
  Blstm a(5, 3, 9), b(5, 3, 9), other(5, 3, 10);
  const auto samples = torch::randn({7, 4, 5});
  EXPECT_TRUE(a.forward(samples).equal(b.forward(samples)));
  EXPECT_FALSE(a.forward(samples).equal(other.forward(samples)));
}

TEST(Adam, HasTheStatedEpsilon) {
  EXPECT_EQ(adam_options(0.001).eps(), 1e-8);
  EXPECT_EQ(adam_options(0.001).lr(), 0.001);
}

}  // namespace
}  // namespace headpond

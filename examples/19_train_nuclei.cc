// SPDX-License-Identifier: Apache-2.0
// Interactive segmentation: which pixels are the nucleus that is clicked. Samples are prepared once, into records.
//   19_train_nuclei [--data FOLDER] [--records FOLDER] [--steps N]    data: as the Data Science Bowl 2018 has them
#include <headpond/headpond.h>
#include <headpond/torch.h>

#include <cstdio>
#include <filesystem>
#include <map>

#include "examples/preprocess_once/crops.h"
#include "examples/preprocess_once/operators.h"
#include "examples/preprocess_once/records.h"

namespace hp = headpond;
namespace nn = torch::nn;
namespace F = torch::nn::functional;
namespace once = preprocess_once;

nn::Sequential level(int64_t from, int64_t to) {
  nn::Sequential level;
  for (const int64_t in : {from, to}) {
    level->push_back(nn::Conv2d(nn::Conv2dOptions(in, to, 3).padding(1).bias(false)));
    level->push_back(nn::BatchNorm2d(to));
    level->push_back(nn::ReLU());
  }
  return level;
}

struct Net : nn::Module {
  Net() {
    for (size_t i = 0; i < levels.size(); ++i) register_module("level" + std::to_string(i), levels[i]);
    register_module("head", head);
  }
  torch::Tensor forward(const torch::Tensor& in) {  // [n, 5, h, w], of which 4 divides h and w, to [n, h, w].
    const auto half = [](const torch::Tensor& x) { return F::max_pool2d(x, F::MaxPool2dFuncOptions(2)); };
    const auto twice = [](const torch::Tensor& x) { return x.repeat_interleave(2, 2).repeat_interleave(2, 3); };
    const torch::Tensor a = levels[0]->forward(in), b = levels[1]->forward(half(a)), c = levels[2]->forward(half(b)),
                        d = levels[3]->forward(torch::cat({twice(c), b}, 1));
    return head(levels[4]->forward(torch::cat({twice(d), a}, 1))).squeeze(1);
  }
  std::vector<nn::Sequential> levels = {level(5, 16), level(16, 32), level(32, 64), level(96, 32), level(48, 16)};
  nn::Conv2d head{nn::Conv2dOptions(16, 1, 1)};
};

hp::Dataset samples(const std::vector<once::Picture>& pictures, const std::string& folder) {
  const hp::Dataset clicked = once::prepared(pictures, 7, {.one = true, .samples = 4});
  const auto shard = once::write_prepared(clicked, folder, {}, pictures[0].image + std::to_string(pictures.size()));
  return once::read_prepared(hp::value_or_throw(shard).path);
}

int main(int argc, char** argv) {
  std::map<std::string, std::string> given = {{"--data", ""}, {"--records", "nuclei"}, {"--steps", "400"}};
  for (int i = 1; i + 1 < argc; i += 2) given.at(argv[i]) = argv[i + 1];
  const std::string records = given["--records"], data = given["--data"].empty() ? records + "/drawn" : given["--data"];
  if (!std::filesystem::exists(data)) hp::value_or_throw(once::draw_pictures(data, 4, 7));
  const auto sets = once::split_by_name(hp::value_or_throw(once::find_pictures(data)));
  torch::manual_seed(7);
  torch::set_num_threads(1);
  const auto net = std::make_shared<Net>();
  torch::optim::Adam adam(net->parameters(), 2e-3);
  const auto step = [&](const hp::TorchBatch& batch, hp::Mode) -> hp::StepOutput {
    const torch::Tensor in = batch["input"], target = batch["target"];
    const auto pad = F::PadFuncOptions({0, -in.size(3) & 3, 0, -in.size(2) & 3}).mode(torch::kReplicate);
    const torch::Tensor scores = net->forward(F::pad(in, pad)).slice(1, 0, in.size(2)).slice(2, 0, in.size(3));
    const torch::Tensor said = torch::sigmoid(scores), found = (scores > 0).to(torch::kF32);
    const torch::Tensor dice = 2 * (said * target).sum() / (said.sum() + target.sum() + 1);
    const torch::Tensor both = (found * target).sum({1, 2}), any = (found + target).clamp_max(1).sum({1, 2});
    return {F::binary_cross_entropy_with_logits(scores, target) + 1 - dice,
            {{"iou", {((both + 1e-6) / (any + 1e-6)).sum().item<double>(), static_cast<double>(in.size(0))}}}};
  };
  hp::Estimator estimator({.model = net, .optimizer = adam, .step = step, .config = {.seed = 7}});
  const hp::Dataset train =
                        samples(sets.train, records + "/train") | hp::shuffle() | once::random_crops() | hp::batch(8),
                    test = samples(sets.test, records + "/test") | once::whole_pictures() | hp::batch(1);
  const int64_t steps = std::stoi(given["--steps"]);
  const auto result = hp::value_or_throw(hp::train_and_evaluate(
      estimator, {.input = train, .max_steps = steps, .epochs = -1}, {.input = test, .steps = {}}));
  std::printf("mean IoU of the test's pictures: %.4f\n", result.metrics.at("iou").value());
}

// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/nuclei.h"

#include <torch/torch.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "headpond/train/articles/bar_hook_internal.h"
#include "headpond/train/articles/falling_rate_internal.h"
#include "headpond/train/estimator.h"

namespace headpond {
namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

nn::Sequential level(int64_t from, int64_t to) {
  nn::Sequential level;
  for (const int64_t in : {from, to}) {
    level->push_back(nn::Conv2d(nn::Conv2dOptions(in, to, 3).padding(1).bias(false)));
    level->push_back(nn::BatchNorm2d(to));
    level->push_back(nn::ReLU());
  }
  return level;
}

torch::Tensor twice_as_large(const torch::Tensor& x) {
  return F::interpolate(x, F::InterpolateFuncOptions().scale_factor(std::vector<double>{2, 2}).mode(torch::kNearest));
}

// How much the colour of each pixel is like that of the pixels that `clicks` are on, from 0 to 1: a click says what
// nuclei look like also where they are far from it. 0 without clicks.
torch::Tensor likeness(const torch::Tensor& colours, const torch::Tensor& clicks) {
  constexpr double kOnAClick = 0.96;  // Within two pixels of it.
  const torch::Tensor on = (clicks > kOnAClick).to(colours.dtype());
  const torch::Tensor count = on.sum({2, 3});  // [n, inside and outside]
  const torch::Tensor mean = torch::einsum("nkhw,nchw->nkc", {on, colours}) / count.clamp_min(1).unsqueeze(2);
  const torch::Tensor off = (colours.unsqueeze(1) - mean.unsqueeze(3).unsqueeze(4)).pow(2).sum(2);
  return torch::exp(-off) * (count > 0).to(colours.dtype()).unsqueeze(2).unsqueeze(3);
}

struct NucleiNet final : nn::Module {
  NucleiNet() {
    register_module("norm", norm);
    register_module("down1", down1);
    register_module("down2", down2);
    register_module("middle", middle);
    register_module("up2", up2);
    register_module("up1", up1);
    register_module("head", head);
  }
  // Maps [n, 5, h, w], where 4 divides h and w, to [n, h, w], above 0 where a nucleus is.
  torch::Tensor forward(const torch::Tensor& input) {
    // Clicks are as they are: how many a batch has changes so much that its mean and variance say nothing of the next.
    const torch::Tensor colours = norm(input.slice(1, 0, kColours)), clicks = input.slice(1, kColours);
    const torch::Tensor shown = torch::cat({colours, clicks, likeness(colours, clicks)}, 1);
    const torch::Tensor a = down1->forward(shown), b = down2->forward(F::max_pool2d(a, F::MaxPool2dFuncOptions(2)));
    const torch::Tensor c = middle->forward(F::max_pool2d(b, F::MaxPool2dFuncOptions(2)));
    const torch::Tensor d = up2->forward(torch::cat({twice_as_large(c), b}, 1));
    return head(up1->forward(torch::cat({twice_as_large(d), a}, 1))).squeeze(1);
  }
  static constexpr int64_t kColours = 3;
  nn::BatchNorm2d norm{kColours};
  nn::Sequential down1 = level(7, 16), down2 = level(16, 32), middle = level(32, 64), up2 = level(64 + 32, 32),
                 up1 = level(32 + 16, 16);
  nn::Conv2d head{nn::Conv2dOptions(16, 1, 1)};
};

torch::Tensor loss_of(const torch::Tensor& scores, const torch::Tensor& target) {
  const torch::Tensor said = torch::sigmoid(scores);
  const auto sum = [](const torch::Tensor& x) { return x.sum({1, 2}); };
  const torch::Tensor dice = (2 * sum(said * target) + 1) / (sum(said) + sum(target) + 1);
  return F::binary_cross_entropy_with_logits(scores, target) + (1 - dice).mean();
}

// Intersection over union of each picture, summed.
double iou_of(const torch::Tensor& scores, const torch::Tensor& target) {
  const torch::Tensor said = scores > 0, is = target > 0.5;
  const torch::Tensor both = (said & is).sum({1, 2}).to(torch::kDouble),
                      any = (said | is).sum({1, 2}).to(torch::kDouble);
  return torch::where(any > 0, both / any.clamp_min(1), torch::ones_like(any)).sum().item<double>();
}

// The scores of pictures of any size.
torch::Tensor scores_of(NucleiNet& net, const torch::Tensor& input) {
  const int64_t height = input.size(2), width = input.size(3), down = -height & 3, right = -width & 3;
  const torch::Tensor padded =
      down + right > 0 ? F::pad(input, F::PadFuncOptions({0, right, 0, down}).mode(torch::kReplicate)) : input;
  return net.forward(padded).slice(1, 0, height).slice(2, 0, width);
}

}  // namespace

Result<NucleiResult> train_nuclei(const NucleiOptions& options, const RunHooks& hooks, NucleiResult* so_far) {
  torch::set_num_threads(options.torch_threads);
  torch::manual_seed(options.config.seed);
  const auto net = std::make_shared<NucleiNet>();
  torch::optim::Adam adam(net->parameters(), options.lr);
  NucleiResult result;
  for (const torch::Tensor& parameter : net->parameters()) result.parameters += parameter.numel();
  const auto step = [&](const TorchBatch& batch, Mode mode) -> StepOutput {
    if (mode == Mode::train) result.clock.begin();
    const torch::Tensor& target = batch["target"];
    const torch::Tensor scores = scores_of(*net, batch["input"]);
    return {.loss = loss_of(scores, target),
            .metrics = {{"iou", {iou_of(scores.detach(), target), static_cast<double>(target.size(0))}}}};
  };
  const int64_t steps = std::min(options.steps, options.max_steps.value_or(options.steps));
  RunConfig config = options.config;
  config.log = hooks.log;
  Estimator estimator({.model = net, .optimizer = adam, .step = step, .config = config});
  const int64_t begin = now_ns();
  const auto trained = train_and_evaluate(
      estimator,
      {.input = options.train,
       .max_steps = steps,
       .hooks = {std::make_shared<internal::FallingRate>(adam, options.lr, options.steps, result.losses),
                 std::make_shared<StepHook>(result.clock, result.losses),
                 std::make_shared<internal::BarHook>(hooks, "nuclei", steps)},
       .epochs = -1,
       .stop = hooks.stop,
       .evaluates_after_stop = false},
      {.input = options.test, .steps = std::nullopt, .throttle_secs = 0});
  result.report = estimator.report();
  result.wall_s = 1e-9 * static_cast<double>(now_ns() - begin);
  if (trained && !hooks.stop.stop_requested()) {
    result.iou = trained->metrics.at("iou").value();
    return result;
  }
  if (so_far != nullptr) *so_far = std::move(result);
  if (!trained) return fail(trained.error());
  return fail(ErrorKind::Cancelled, "a stop was requested");
}

}  // namespace headpond

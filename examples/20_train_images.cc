// SPDX-License-Identifier: Apache-2.0
// From JPEG files to a trained network: a folder for each class in FOLDER/train, and the same ones in FOLDER/test.
//   20_train_images FOLDER [STEPS] [MODEL_DIR]    with a MODEL_DIR it goes on where it was when it is started again
#include <headpond/headpond.h>
#include <headpond/torch.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>

#include "headpond/train/articles/digits/patterns.h"  // Where there are no pictures.

namespace hp = headpond;
namespace nn = torch::nn;

constexpr int kSide = 64;  // Pixels that the network sees.

hp::Dataset train_pictures(const std::string& folder) {
  return hp::folder(folder + "/train", {.extensions = {"jpg", "jpeg"}})  // "file", its content, and "label"
         | hp::shuffle()                                                 // all names, so a batch has all classes
         | hp::map("file", hp::decode_jpeg(), hp::random_resized_crop({kSide, kSide}, {.scale = {0.5, 1}}),
                   hp::random_horizontal_flip(),
                   hp::color_jitter({.brightness = 0.3, .contrast = 0.3, .saturation = 0.3, .hue = 0.05}),
                   hp::normalize())  // one pass, of the part that the crop needs
         | hp::batch(32, {.drop_remainder = true});
}

hp::Dataset test_pictures(const std::string& folder) {
  return hp::folder(folder + "/test", {.extensions = {"jpg", "jpeg"}}) |
         hp::map("file", hp::decode_jpeg(), hp::resize({kSide * 5 / 4, kSide * 5 / 4}), hp::center_crop({kSide, kSide}),
                 hp::normalize()) |
         hp::cache() | hp::batch(64);
}

nn::Sequential network(int64_t classes) {
  nn::Sequential net;
  const auto add = [&net](const auto&... layers) { (net->push_back(layers), ...); };
  for (const auto& [from, to] : {std::pair{3, 16}, {16, 32}, {32, 64}})
    add(nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(1)), nn::BatchNorm2d(to), nn::ReLU(), nn::MaxPool2d(2));
  add(nn::AdaptiveAvgPool2d(1), nn::Flatten(), nn::Linear(64, classes));
  return net;
}

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "pictures";
  hp::value_or_throw(hp::draw_missing_patterns(folder));
  torch::manual_seed(7);
  torch::set_num_threads(1);
  nn::Sequential net = network(std::distance(std::filesystem::directory_iterator(folder + "/train"), {}));
  torch::optim::Adam adam(net->parameters(), 2e-3);
  const auto step = [&](const hp::TorchBatch& batch, hp::Mode mode) -> hp::StepOutput {
    const torch::Tensor scores = net->forward(batch["file"]), label = batch["label"];  // the batch's memory, no copy
    const torch::Tensor loss = nn::functional::cross_entropy(scores, label);
    if (mode == hp::Mode::train)
      std::fprintf(stderr, "epoch %d, batch %d: loss %.9g\n", static_cast<int>(batch.epoch()),
                   static_cast<int>(batch.index()), loss.item<double>());
    const auto hits = (scores.argmax(1) == label).sum().item<double>();
    return {loss, {{"accuracy", {hits, static_cast<double>(label.numel())}}}};
  };
  const hp::RunConfig config = {.model_dir = argc > 3 ? argv[3] : "", .save_steps = 10, .seed = 7};
  hp::Estimator estimator({.model = net, .optimizer = adam, .step = step, .config = config});
  const auto result = hp::value_or_throw(hp::train_and_evaluate(
      estimator, {.input = train_pictures(folder), .max_steps = argc > 2 ? std::stoi(argv[2]) : 300, .epochs = -1},
      {.input = test_pictures(folder), .steps = {}, .throttle_secs = 20}));
  const hp::StepStats& time = estimator.report().train.steps;
  std::printf("test accuracy after %d steps: %.4f; the training waited %.2f %% of its time for batches\n",
              static_cast<int>(estimator.report().last_step), result.metrics.at("accuracy").value(),
              100 * time.call_ns / std::max(1.0, time.call_ns + time.work_ns));
}

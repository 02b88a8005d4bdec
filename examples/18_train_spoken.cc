// SPDX-License-Identifier: Apache-2.0
// From WAV files to a trained network: spoken digits, "<digit>_<speaker>_<index>.wav"; indices 0 to 4 are the test.
//   18_train_spoken FOLDER [EPOCHS] [MODEL_DIR]    with a MODEL_DIR it goes on where it was when it is started again
#include <headpond/headpond.h>
#include <headpond/torch.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "headpond/train/articles/digits/tones.h"  // Where there are no recordings.

namespace hp = headpond;
namespace nn = torch::nn;

constexpr int64_t kSamples = 8000;  // A second.

hp::Result<std::string> content(std::string_view path) {
  const auto bytes = hp::read_file(std::string(path));
  if (!bytes) return hp::fail(bytes.error());
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

// A second, with the word at a random place of it.
hp::Element place(const hp::Element& in, hp::Random& random) {
  const auto word = in[0].as<float>().first(std::min<size_t>(in[0].as<float>().size(), kSamples));
  std::vector<float> out(kSamples);
  std::copy(word.begin(), word.end(), out.begin() + random.below(static_cast<uint32_t>(kSamples - word.size()) + 1));
  return {hp::Tensor::from(out, {kSamples}), in[1]};
}

hp::Dataset digits(const std::string& folder, bool test) {
  std::vector<std::string> paths;
  std::vector<int64_t> labels;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string path = file.path().string();
    if (path.ends_with(".wav") && (std::stoi(path.substr(path.rfind('_') + 1)) < 5) == test) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) labels.push_back(path[path.rfind('/') + 1] - '0');
  const hp::Shape n = {static_cast<int64_t>(paths.size())};
  const hp::Dataset spectra =
      hp::from_tensor_slices({{"sound", hp::Tensor::from(paths, n)}, {"label", hp::Tensor::from(labels, n)}}) |
      hp::shuffle() | hp::map("sound", content, {.name = "read"}) |
      hp::map("sound", hp::decode_wav({.desired_channels = 1, .rate = 8000})) |
      hp::random_map(place, {.output = {{"sound", hp::f32, {kSamples}}, {"label", hp::i64, {}}}, .name = "place"}) |
      hp::map("sound", hp::gain_db(test ? hp::DecibelRange{} : hp::DecibelRange{-6, 6}),
              hp::log_mel({.sample_rate = 8000, .fft = 256, .window_length = 200, .hop = 80, .mels = 40}));
  return (test ? spectra | hp::cache() : spectra) | hp::batch(128);
}

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "recordings";
  hp::value_or_throw(hp::draw_missing_tones(folder));
  torch::manual_seed(7);
  torch::set_num_threads(1);
  nn::Sequential net(nn::BatchNorm2d(1));
  const auto add = [&net](const auto&... layers) { (net->push_back(layers), ...); };
  for (const auto& [from, to] : {std::pair{1, 16}, {16, 32}, {32, 64}})
    add(nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(1)), nn::BatchNorm2d(to), nn::ReLU(), nn::MaxPool2d(2));
  add(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({1, 5})), nn::Flatten(), nn::Linear(64 * 5, 10));
  torch::optim::Adam adam(net->parameters(), 2e-3);
  const auto step = [&](const hp::TorchBatch& batch, hp::Mode mode) -> hp::StepOutput {
    const torch::Tensor scores = net->forward(batch["sound"].unsqueeze(1)), label = batch["label"],
                        loss = nn::functional::cross_entropy(scores, label);
    if (mode == hp::Mode::train)
      std::fprintf(stderr, "epoch %d, batch %d: loss %.9g\n", static_cast<int>(batch.epoch()),
                   static_cast<int>(batch.index()), loss.item<double>());
    return {loss, {{"accuracy", {(scores.argmax(1) == label).sum().item<double>(), 1.0 * label.numel()}}}};
  };
  const hp::RunConfig config = {.model_dir = argc > 3 ? argv[3] : "", .save_steps = 10, .seed = 7};
  hp::Estimator estimator({.model = net, .optimizer = adam, .step = step, .config = config});
  const auto result = hp::value_or_throw(
      hp::train_and_evaluate(estimator, {.input = digits(folder, false), .epochs = argc > 2 ? std::stoi(argv[2]) : 30},
                             {.input = digits(folder, true), .throttle_secs = 20}));
  const hp::StepStats& time = estimator.report().train.steps;
  std::printf("test accuracy after %d steps: %.4f; the training waited %.2f %% of its time for batches\n",
              static_cast<int>(estimator.report().last_step), result.metrics.at("accuracy").value(),
              100 * time.call_ns / std::max(1.0, time.call_ns + time.work_ns));
}

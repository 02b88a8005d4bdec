// SPDX-License-Identifier: Apache-2.0
// Ten chains that users of torchvision and torchaudio write, each over a batch of small pictures or sounds.
#include <headpond/headpond.h>

#include <cmath>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace hp = headpond;

namespace {

hp::Tensor as_file(const std::vector<std::byte>& bytes) {
  return hp::Tensor::scalar(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

hp::Tensor picture(int64_t number) {
  std::vector<uint8_t> pixels(static_cast<size_t>(60 * (50 + number) * 3));
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 7 + static_cast<size_t>(number));
  return as_file(hp::encode_png(hp::Tensor::from(pixels, {60, 50 + number, 3})).value());
}

hp::Tensor classes(int64_t number) {
  std::vector<uint8_t> pixels(static_cast<size_t>(60 * (50 + number)));
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i / 500);
  return as_file(hp::encode_png(hp::Tensor::from(pixels, {60, 50 + number, 1})).value());
}

hp::Tensor tone(int64_t number) {
  std::vector<float> samples(8000);
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] = std::sin(static_cast<float>(i) * 0.01F * static_cast<float>(number + 1));
  }
  return as_file(hp::encode_wav(hp::Tensor::from(samples, {8000, 1}), 8000).value());
}

const hp::Spec kFile = {{"image", hp::bytes, {}}};

hp::Dataset pictures() { return hp::range(4) | hp::map(&picture, {.output = kFile, .name = "picture"}); }

// With what belongs to them: classes of pixels, boxes and their labels.
hp::Dataset labelled() {
  const auto all = [](int64_t number) {
    return std::tuple(picture(number), classes(number),
                      hp::Tensor::from(std::vector<float>{5, 5, 40, 30, 20, 10, 30, 50}, {2, 4}),
                      hp::Tensor::from(std::vector<int64_t>{number, 7}, {2}));
  };
  return hp::range(4) | hp::map(all, {.output = {{"image", hp::bytes, {}},
                                                 {"mask", hp::bytes, {}},
                                                 {"boxes", hp::f32, {2, 4}},
                                                 {"labels", hp::i64, {2}}},
                                      .name = "labelled"});
}

hp::Dataset sounds() { return hp::range(4) | hp::map(&tone, {.output = {{"sound", hp::bytes, {}}}, .name = "tone"}); }

void show(const std::string& name, const hp::Dataset& dataset) {
  hp::Loader loader(dataset, {.seed = 7});
  std::cout << name << ":";
  while (auto batch = loader.next()) {
    for (size_t i = 0; i < batch->element().size(); ++i) std::cout << " " << (*batch)[i].shape().to_string();
  }
  std::cout << "\n";
}

// Compose([RandomResizedCrop(32), RandomHorizontalFlip(), ToTensor(), Normalize(mean, std)])
// Compose([Resize(40), CenterCrop(32), ToTensor(), Normalize(mean, std)])
// Compose([RandomCrop(32, padding=4), RandomHorizontalFlip(), ToTensor()])
// Compose([..., RandomApply([ColorJitter(0.8, 0.8, 0.8, 0.2)], p=0.8), RandomGrayscale(0.2), GaussianBlur(3), ...])
// Compose([..., RandAugment(), ToTensor(), Normalize(mean, std), RandomErasing(0.25)])
// RandomChoice([MixUp(num_classes=10), CutMix(num_classes=10)]) on batches
void show_classification() {
  show("training", pictures() |
                       hp::map("image", hp::decode_image({.channels = 3}), hp::random_resized_crop({32, 32}),
                               hp::random_horizontal_flip(), hp::normalize()) |
                       hp::batch(4));
  show("validation", pictures() |
                         hp::map("image", hp::decode_image({.channels = 3}), hp::resize(40), hp::center_crop({32, 32}),
                                 hp::normalize()) |
                         hp::batch(4));
  show("without normalizing",
       pictures() |
           hp::map("image", hp::decode_image({.channels = 3}), hp::random_crop({32, 32}, {.padding = {4}}),
                   hp::random_horizontal_flip(), hp::normalize({.mean = {0}, .std = {1}})) |
           hp::batch(4));
  show("contrastive",
       pictures() |
           hp::map("image", hp::decode_image({.channels = 3}), hp::random_resized_crop({32, 32}),
                   hp::random_apply(
                       {hp::color_jitter({.brightness = 0.8, .contrast = 0.8, .saturation = 0.8, .hue = 0.2})}, 0.8),
                   hp::random_grayscale(0.2), hp::gaussian_blur(3), hp::normalize()) |
           hp::batch(4));
  show("policy", pictures() |
                     hp::map("image", hp::decode_image({.channels = 3}), hp::random_resized_crop({32, 32}),
                             hp::rand_augment(), hp::normalize(), hp::random_erasing({.p = 0.25})) |
                     hp::batch(4));
  const auto label = [](int64_t number) { return std::tuple(picture(number), number); };
  show("mixed",
       hp::range(4) | hp::map(label, {.output = {{"image", hp::bytes, {}}, {"label", hp::i64, {}}}, .name = "label"}) |
           hp::map("image", hp::decode_image({.channels = 3}), hp::random_resized_crop({32, 32}), hp::normalize()) |
           hp::batch(4) |
           hp::map({.image = "image", .labels = "label"}, hp::random_choice({hp::mixup(10), hp::cutmix(10)})));
}

// v2.Compose([v2.RandomRotation(10), v2.RandomResizedCrop(32), v2.Normalize(mean, std)]) on an image and its Mask
// v2.Compose([v2.RandomHorizontalFlip(), v2.Resize((32, 32)), v2.RandomCrop(32, 4), v2.SanitizeBoundingBoxes()])
void show_fields() {
  const auto decoded = labelled() | hp::map("image", hp::decode_image({.channels = 3})) |
                       hp::map("mask", hp::decode_png({.channels = 1}));
  show("segmentation", decoded |
                           hp::map({.image = "image", .mask = "mask", .boxes = "boxes", .labels = "labels"},
                                   hp::random_rotation(10), hp::random_resized_crop({32, 32}), hp::normalize()) |
                           hp::padded_batch(4));
  show("detection", decoded |
                        hp::map({.image = "image", .mask = "mask", .boxes = "boxes", .labels = "labels"},
                                hp::random_horizontal_flip(), hp::resize({32, 32}),
                                hp::random_crop({32, 32}, {.padding = {4}, .min_area = 16})) |
                        hp::padded_batch(4));
}

// Resample(8000, 16000), MelSpectrogram(n_mels=80), AmplitudeToDB(), FrequencyMasking(27), TimeMasking(20)
// Vol(gain, "db"), MFCC(n_mfcc=13), of half a second
void show_sound() {
  show("log-mel", sounds() |
                      hp::map("sound", hp::decode_sound({.rate = 8000}), hp::pad_or_trim(8000), hp::mono(),
                              hp::resample({.from = 8000, .to = 16000}), hp::log_mel({.mels = 80, .mels_first = true}),
                              hp::frequency_mask({.width = 27, .mels_first = true}),
                              hp::time_mask({.width = 20, .mels_first = true})) |
                      hp::batch(4));
  show("mfcc", sounds() |
                   hp::map("sound", hp::decode_sound({.rate = 8000}), hp::random_sound_crop(4000), hp::gain_db({-6, 6}),
                           hp::mono(), hp::mfcc({.sample_rate = 8000, .coefficients = 13})) |
                   hp::batch(4));
}

}  // namespace

int main() {
  show_classification();
  show_fields();
  show_sound();
}

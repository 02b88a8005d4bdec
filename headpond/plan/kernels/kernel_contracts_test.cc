// SPDX-License-Identifier: Apache-2.0
// The library's kernels keep the contract of headpond/testing.h.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "headpond/headpond.h"
#include "headpond/testing.h"

namespace headpond::plan {
namespace {

const std::vector<FieldRole> kAllRoles = {FieldRole::image, FieldRole::mask, FieldRole::boxes, FieldRole::labels,
                                          FieldRole::points};

Tensor contract_image(DType dtype, int64_t height, int64_t width, int64_t channels) {
  Tensor image = Tensor::empty(dtype, {height, width, channels});
  for (size_t i = 0; i < static_cast<size_t>(image.size()); ++i) {
    const auto value = static_cast<uint8_t>(i * 37 % 256 * (i * 37 % 256) / 300);
    if (dtype == u8) image.mutable_as<uint8_t>()[i] = value;
    if (dtype == f32) image.mutable_as<float>()[i] = static_cast<float>(value) / 255;
  }
  return image;
}

// Images with all that can belong to them, and one of four channels, which some kernels refuse.
std::vector<std::vector<Tensor>> contract_samples(DType dtype) {
  std::vector<std::vector<Tensor>> all;
  for (const auto& [height, width, channels] : {std::array<int64_t, 3>{9, 14, 3}, {12, 12, 3}, {1, 1, 3}, {5, 6, 4}}) {
    const auto right = static_cast<float>(width), bottom = static_cast<float>(height);
    all.push_back({contract_image(dtype, height, width, channels), contract_image(u8, height, width, 1),
                   Tensor::from(std::vector<float>{0, 0, right, bottom, 1, 1, 3, 2}, {2, 4}),
                   Tensor::from(std::vector<int64_t>{height, width}, {2}),
                   Tensor::from(std::vector<float>{0.5F, 0.5F, right - 0.5F, bottom / 2}, {2, 2})});
  }
  return all;
}

void expect_contract(const KernelRef& kernel, DType dtype, const KernelContractOptions& options) {
  EXPECT_EQ(kernel_violation(kernel, contract_samples(dtype), options), "") << kernel->facts().title;
}

TEST(KernelContracts, OfKernelsThatMovePixels) {
  const std::vector<KernelRef> all = {
      crop(1, -2, {6, 5}),
      center_crop({4, 7}),
      random_crop({4, 4}, {.padding = {2}}),
      pad({1, 2}, {.mode = PadMode::edge}),
      resize({7, 9}),
      resize(5, {.filter = ResizeFilter::bicubic, .antialias = false}),
      random_resized_crop({6, 5}),
      random_horizontal_flip(),
      random_vertical_flip(0.7),
      affine({.angle = 20, .translate = {1, 2}}),
      random_affine({.degrees = 30, .scale = {{0.7, 1.2}}}),
      rotate(33, {.expand = true}),
      random_rotation(45),
      perspective({{{0, 0}, {8, 0}, {8, 8}, {0, 8}}}, {{{1, 0}, {8, 1}, {7, 8}, {0, 7}}}),
      random_perspective({.p = 0.9}),
      distance_map({.limit = 20})};
  for (size_t i = 0; i < all.size(); ++i) {
    expect_contract(all[i], i % 3 == 0 ? f32 : u8,
                    {.roles = kAllRoles, .after = {random_horizontal_flip()}, .threads = 0});
  }
}

TEST(ColourKernelContracts, OfKernelsThatChangeColours) {
  const std::vector<KernelRef> all = {color_jitter({.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1}),
                                      adjust_brightness(1.3),
                                      adjust_contrast(0.7),
                                      adjust_saturation(2),
                                      adjust_hue(0.2),
                                      adjust_gamma(1.5, 0.9),
                                      adjust_sharpness(2),
                                      random_adjust_sharpness(3),
                                      grayscale(3),
                                      random_grayscale(0.5),
                                      invert(),
                                      random_solarize(100),
                                      random_posterize(3),
                                      equalize(),
                                      random_autocontrast(),
                                      gaussian_blur(5),
                                      random_erasing({.layout = ImageLayout::hwc}),
                                      random_choice({random_invert(), gaussian_blur(3)}),
                                      random_apply({random_invert(), solarize(99)})};
  for (const KernelRef& kernel : all) {
    expect_contract(kernel, u8, {.roles = kAllRoles, .before = {random_vertical_flip()}, .threads = 0});
  }
}

TEST(KernelContracts, OfPolicies) {
  for (const KernelRef& kernel : {rand_augment(), trivial_augment_wide(), auto_augment()}) {
    expect_contract(kernel, u8, {.roles = kAllRoles, .after = {random_horizontal_flip()}, .threads = 0});
  }
}

TEST(KernelContracts, OfKernelsOfBatches) {
  std::vector<std::vector<Tensor>> batches;
  for (const int64_t rows : {3, 1, 4}) {
    std::vector<float> values(static_cast<size_t>(rows * 3 * 4 * 5));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 19);
    std::vector<int64_t> labels(static_cast<size_t>(rows), rows);  // 4 is none of the classes.
    batches.push_back({Tensor::from(values, {rows, 3, 4, 5}), Tensor::from(labels, {rows})});
  }
  for (const KernelRef& kernel : {mixup(4), cutmix(4)}) {
    EXPECT_EQ(kernel_violation(kernel, batches, {.roles = {FieldRole::image, FieldRole::labels}, .threads = 0}), "")
        << kernel->facts().title;
  }
}

Tensor contract_file(const Result<std::vector<std::byte>>& made) {
  return Tensor::scalar(std::string_view(reinterpret_cast<const char*>(made->data()), made->size()));
}

TEST(KernelContracts, OfDecodersOfJpegsAndSounds) {
  std::vector<std::vector<Tensor>> images, sounds;
  for (const int64_t width : {1, 9, 30}) {
    if (has_jpeg()) images.push_back({contract_file(encode_jpeg(contract_image(u8, 17, width, 3)))});
    const std::vector<float> samples(static_cast<size_t>(width * 20), 0.25F);
    sounds.push_back({contract_file(encode_wav(Tensor::from(samples, {width * 10, 2}), 8000))});
  }
  images.push_back({Tensor::scalar(std::string_view("no image"))});
  sounds.push_back({Tensor::scalar(std::string_view("no sound"))});
  for (const KernelRef& kernel : {decode_jpeg(JpegOptions()), decode_jpeg({.channels = 1, .ratio = 2})}) {
    if (!has_jpeg()) break;
    EXPECT_EQ(
        kernel_violation(kernel, images,
                         {.after = {random_resized_crop(5), normalize({.mean = {0.5}, .std = {1}})}, .threads = 0}),
        "")
        << kernel->facts().title;
  }
  sounds.push_back({contract_file(encode_wav(Tensor::from(std::vector<float>(90, 0.5F), {90, 1}), 44100))});
  for (const KernelRef& kernel : {decode_wav({}), decode_sound({}), decode_wav({.sample_rate = 11025}),
                                  decode_sound({.desired_samples = 70, .sample_rate = 16000})}) {
    EXPECT_EQ(kernel_violation(kernel, sounds, {.after = {random_sound_crop(50)}, .threads = 0}), "")
        << kernel->facts().title;
  }
}

TEST(KernelContracts, OfDecodersAndNormalizeOnThreads) {
  std::vector<std::vector<Tensor>> files;
  for (const int64_t width : {1, 8, 20}) {
    const auto file = encode_png(contract_image(u8, 10, width, 3)).value();
    files.push_back({Tensor::scalar(std::string_view(reinterpret_cast<const char*>(file.data()), file.size()))});
  }
  files.push_back({Tensor::scalar(std::string_view("no image"))});
  for (const KernelRef& kernel : {decode_png({.channels = 3}), decode_image()}) {
    EXPECT_EQ(
        kernel_violation(kernel, files,
                         {.after = {random_resized_crop(5), random_horizontal_flip(), normalize()}, .threads = 2}),
        "")
        << kernel->facts().title;
  }
  EXPECT_EQ(kernel_violation(normalize({.dtype = f16}), files,
                             {.before = {decode_png({.channels = 3}), center_crop({4, 4})}, .threads = 1}),
            "");
}

TEST(SoundKernelContracts, OfSounds) {
  std::vector<std::vector<Tensor>> sounds;
  for (const int64_t frames : {2000, 900, 3}) {
    std::vector<float> samples(static_cast<size_t>(frames) * 2);
    for (size_t i = 0; i < samples.size(); ++i) samples[i] = std::sin(static_cast<float>(i) * 0.3F);
    sounds.push_back({Tensor::from(samples, {frames, 2})});
  }
  const std::vector<KernelRef> all = {
      mono(),
      pad_or_trim(1000),
      random_sound_crop(800),
      gain_db({-6, 6}),
      peak_normalize(),
      speed({0.9, 1.1}),
      time_mask({.width = 40}),
      mix_noise(noise_clips({Tensor::from(std::vector<float>(70, 0.5F), {70})}, "noise"))};
  for (const KernelRef& kernel : all) {
    EXPECT_EQ(kernel_violation(kernel, sounds, {.after = {mono()}, .threads = 0}), "") << kernel->facts().title;
  }
  const std::vector<KernelRef> of_mono = {resample({.from = 3, .to = 2}),
                                          stft({.edges = SpectrumEdges::zeros}),
                                          spectrogram(),
                                          mel_spectrogram({.mels = 20}),
                                          log_mel({.mels = 20}),
                                          mfcc({.mels = 20, .coefficients = 10})};
  for (const KernelRef& kernel : of_mono) {
    EXPECT_EQ(kernel_violation(kernel, sounds, {.before = {mono()}, .threads = 0}), "") << kernel->facts().title;
  }
  const std::vector<KernelRef> of_spectra = {spec_augment({.frequency_width = 9, .time_width = 4}),
                                             time_mask({.width = 4, .fill = MaskFill::mean}),
                                             frequency_mask({.width = 9, .count = 2}), delta({.append = true})};
  for (const KernelRef& kernel : of_spectra) {
    EXPECT_EQ(
        kernel_violation(kernel, sounds, {.before = {mono(), pad_or_trim(2000), log_mel({.mels = 20})}, .threads = 0}),
        "")
        << kernel->facts().title;
  }
}

// Files of images, with masks of their sizes, boxes and labels.
Dataset labelled_files(int64_t count) {
  const auto make = [](int64_t i) -> Result<Element> {
    const int64_t height = 20 + i * 3, width = 45 - i * 2;
    const Tensor image = contract_image(u8, height, width, 3);
    const auto file = has_jpeg() ? encode_jpeg(image) : encode_png(image);
    if (!file) return fail(file.error());
    const auto right = static_cast<float>(width), bottom = static_cast<float>(height);
    return Element{{contract_file(file), contract_image(u8, height, width, 1),
                    Tensor::from(std::vector<float>{0, 0, right, bottom, 0, 0, 5, 5, 9, 9, right, bottom}, {3, 4}),
                    Tensor::from(std::vector<int64_t>{i, i + 1, i + 2}, {3})}};
  };
  return range(count) | map(make, {.output = {{"photo", bytes, {}},
                                              {"mask", u8, {kUnknown, kUnknown, 1}},
                                              {"boxes", f32, {3, 4}},
                                              {"labels", i64, {3}}},
                                   .name = "a file"});
}

TEST(ImageKernels, GiveTheBytesOfASequenceOnAnyThreads) {
  const KernelRef decode = has_jpeg() ? decode_jpeg(JpegOptions()) : decode_png({.channels = 3});
  const Dataset dataset =
      labelled_files(12) | shuffle() |
      map({.image = "photo", .mask = "mask", .boxes = "boxes", .labels = "labels"}, decode,
          random_resized_crop({24, 20}, {.scale = {0.1, 0.5}}), random_horizontal_flip(), normalize()) |
      padded_batch(5);
  constexpr int64_t kEpochs = 2;
  for (const int threads : {0, 1, 2, 8}) {
    Sequence sequence(dataset, {.seed = 3, .epochs = kEpochs});
    Loader loader(dataset, {.epochs = kEpochs, .seed = 3, .threads = threads});
    for (int64_t i = 0; i < kEpochs * 3; ++i) {
      const auto expected = sequence.next();
      const auto batch = loader.next();
      ASSERT_TRUE(expected && batch) << threads;
      for (size_t f = 0; f < 4; ++f) {
        const Tensor &seen = (*batch)[f], &wanted = (*expected)[f];
        ASSERT_EQ(seen.shape(), wanted.shape()) << threads;
        EXPECT_EQ(std::memcmp(seen.data(), wanted.data(), wanted.byte_size()), 0) << threads << " threads, field " << f;
      }
    }
    EXPECT_TRUE(at_end(loader.next()));
  }
}

}  // namespace
}  // namespace headpond::plan

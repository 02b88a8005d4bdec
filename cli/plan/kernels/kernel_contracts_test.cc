// SPDX-License-Identifier: Apache-2.0
// The library's kernels keep the contract of headpond/testing.h.
#include <gtest/gtest.h>

#include <cmath>

#include "headpond/headpond.h"
#include "headpond/testing.h"

namespace headpond::cli {
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
  const std::vector<KernelRef> all = {random_crop({4, 4}, {.padding = {2}}), random_resized_crop({6, 5}),
                                      rotate(33, {.expand = true}), random_perspective({.p = 0.9}),
                                      distance_map({.limit = 20})};
  for (size_t i = 0; i < all.size(); ++i) {
    expect_contract(all[i], i % 3 == 0 ? f32 : u8,
                    {.roles = kAllRoles, .after = {random_horizontal_flip()}, .threads = 0});
  }
}

TEST(KernelContracts, OfKernelsThatChangeColours) {
  const std::vector<KernelRef> all = {color_jitter({.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1}),
                                      gaussian_blur(5), random_erasing({.layout = ImageLayout::hwc}),
                                      trivial_augment_wide(), random_choice({random_invert(), gaussian_blur(3)})};
  for (const KernelRef& kernel : all) {
    expect_contract(kernel, u8, {.roles = kAllRoles, .before = {random_vertical_flip()}, .threads = 0});
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

TEST(KernelContracts, OfSounds) {
  std::vector<std::vector<Tensor>> sounds;
  for (const int64_t frames : {2000, 900, 3}) {
    std::vector<float> samples(static_cast<size_t>(frames) * 2);
    for (size_t i = 0; i < samples.size(); ++i) samples[i] = std::sin(static_cast<float>(i) * 0.3F);
    sounds.push_back({Tensor::from(samples, {frames, 2})});
  }
  const std::vector<KernelRef> all = {mono(), pad_or_trim(1000), random_sound_crop(800), gain_db({-6, 6}),
                                      peak_normalize()};
  for (const KernelRef& kernel : all) {
    EXPECT_EQ(kernel_violation(kernel, sounds, {.after = {mono()}, .threads = 0}), "") << kernel->facts().title;
  }
  for (const KernelRef& kernel : {resample({.from = 3, .to = 2})}) {
    EXPECT_EQ(kernel_violation(kernel, sounds, {.before = {mono()}, .threads = 0}), "") << kernel->facts().title;
  }
  EXPECT_EQ(kernel_violation(spec_augment({.frequency_width = 9, .time_width = 4}), sounds,
                             {.before = {mono(), pad_or_trim(2000), log_mel({.mels = 20})}, .threads = 0}),
            "");
}

}  // namespace
}  // namespace headpond::cli

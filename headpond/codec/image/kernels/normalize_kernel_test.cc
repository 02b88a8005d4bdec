// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/normalize_kernel.h"

#include <gmock/gmock.h>

#include "headpond/base/math/half.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/image_test_internal.h"
#include "headpond/tensor/rows_kernel.h"

namespace headpond {
namespace {

using image_internal::refusal;
using image_internal::run_one_kernel;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;

TEST(Normalize, PutsChannelsFirstAndHasImageNetsValues) {
  const Tensor image = Tensor::from(std::vector<uint8_t>{0, 255, 128, 10, 20, 30}, {1, 2, 3});
  const auto made = run_one_kernel(normalize(), image);
  ASSERT_EQ(made->shape(), (Shape{3, 1, 2}));
  const auto value = [](double v, double mean, double std) {
    return FloatNear(static_cast<float>((v / 255 - mean) / std), 1e-6F);
  };
  EXPECT_THAT(made->as<float>(),
              ElementsAre(value(0, 0.485, 0.229), value(10, 0.485, 0.229), value(255, 0.456, 0.224),
                          value(20, 0.456, 0.224), value(128, 0.406, 0.225), value(30, 0.406, 0.225)));
}

TEST(Normalize, KeepsTheLayoutIfAsked) {
  const Tensor image = Tensor::from(std::vector<float>{0.5F, 1, -1, 2}, {2, 1, 2});
  const auto made = run_one_kernel(normalize({.mean = {0.5}, .std = {0.25}, .layout = ImageLayout::hwc}), image);
  EXPECT_EQ(made->shape(), (Shape{2, 1, 2}));
  EXPECT_THAT(made->as<float>(), ElementsAre(0, 2, -6, 6));
}

TEST(Normalize, RoundsToSixteenBits) {
  const Tensor image = Tensor::from(std::vector<uint8_t>{77}, {1, 1, 1});
  const NormalizeOptions options = {.mean = {0.5}, .std = {0.3}};
  const float exact = run_one_kernel(normalize(options), image)->as<float>()[0];
  NormalizeOptions half = options, brain = options;
  half.dtype = f16;
  brain.dtype = bf16;
  EXPECT_EQ(run_one_kernel(normalize(half), image)->as<uint16_t>()[0], to_f16(exact));
  EXPECT_EQ(run_one_kernel(normalize(brain), image)->as<uint16_t>()[0], to_bf16(exact));
}

TEST(Normalize, RefusesBadOptionsAndChannels) {
  EXPECT_THAT(refusal([] { normalize({.mean = {0, 0}}); }), HasSubstr("2 means and 3 stds"));
  EXPECT_THAT(refusal([] { normalize({.mean = {0}, .std = {0}}); }), HasSubstr("std above 0"));
  EXPECT_THAT(refusal([] { normalize({.dtype = f64}); }), HasSubstr("dtype float64"));
  EXPECT_THAT(run_one_kernel(normalize(), Tensor::empty(u8, {1, 1, 1})).error().message(),
              HasSubstr("3 means for an image of 1 channels"));
  EXPECT_EQ(normalize({.mean = {0.5}, .std = {1}, .layout = ImageLayout::hwc, .dtype = bf16})->facts().title,
            "normalize(mean=[0.5], std=[1], layout=hwc, dtype=bfloat16)");
}

// The bytes of all images, one by one.
std::vector<std::byte> one_by_one(const KernelRef& kernel, const std::vector<Tensor>& images) {
  std::vector<std::byte> all;
  for (const Tensor& image : images) {
    const Tensor made = *run_one_kernel(kernel, image);
    all.insert(all.end(), made.data(), made.data() + made.byte_size());
  }
  return all;
}

TEST(Normalize, MakesManyImagesAtOnce) {
  Random random(5);
  for (int i = 0; i < 96; ++i) {
    const int64_t height = 1 + image_internal::below(random, 9), width = 1 + image_internal::below(random, 30);
    const int64_t channels = 1 + i % 4;
    NormalizeOptions options = {.mean = {0.1}, .std = {0.3}};
    for (int64_t c = 1; i % 8 > 3 && c < channels; ++c) {
      options.mean.push_back(0.2 * static_cast<double>(c));
      options.std.push_back(0.5);
    }
    options.layout = i % 3 == 0 ? ImageLayout::hwc : ImageLayout::chw;
    options.dtype = i % 5 == 0 ? f16 : i % 5 == 1 ? bf16 : f32;
    const FieldSpec spec = {"image", i % 7 < 3 ? f32 : u8, {height, width, channels}};
    const KernelRef kernel = normalize(options);
    const auto& rows = dynamic_cast<const RowsKernel&>(*kernel);
    ASSERT_TRUE(rows.takes_rows(spec));
    std::vector<Tensor> images;
    std::vector<std::byte> from;
    for (int n = 0; n < 5; ++n) {
      images.push_back(image_internal::random_image(random, spec.dtype, height, width, channels));
      from.insert(from.end(), images[n].data(), images[n].data() + images[n].byte_size());
    }
    const std::vector<std::byte> expected = one_by_one(kernel, images);
    std::vector<std::byte> made(expected.size());
    rows.run_rows(spec, from.data(), images.size(), made.data());
    ASSERT_EQ(made, expected) << spec.shape.to_string() << kernel->facts().title;
  }
}

TEST(Normalize, MakesManyImagesAtOnceOnlyWhereItMayAlone) {
  const auto takes = [](const KernelRef& kernel, DType dtype, const Shape& shape) {
    return dynamic_cast<const RowsKernel&>(*kernel).takes_rows({"", dtype, shape});
  };
  EXPECT_TRUE(takes(normalize(), u8, {2, 2, 3}));
  EXPECT_FALSE(takes(normalize(), u8, {2, 2, 1}));
  EXPECT_FALSE(takes(normalize(), u8, {2, 0, 3}));
  EXPECT_FALSE(takes(normalize(), u8, {2, 3}));
  EXPECT_FALSE(takes(normalize(), i64, {2, 2, 3}));
  EXPECT_FALSE(takes(random_horizontal_flip(), u8, {2, 2, 3}));
}

TEST(Normalize, TellsItsOptionsAndOtherKernelsHaveNone) {
  const KernelRef kernel = normalize({.mean = {0.5}, .std = {0.25}});
  ASSERT_NE(normalization_of(*kernel), nullptr);
  EXPECT_EQ(normalization_of(*kernel)->mean, std::vector<double>{0.5});
  EXPECT_EQ(normalization_of(*random_horizontal_flip()), nullptr);
}

}  // namespace
}  // namespace headpond

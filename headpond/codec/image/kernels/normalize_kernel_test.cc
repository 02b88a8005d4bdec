// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/normalize_kernel.h"

#include <gmock/gmock.h>

#include "headpond/base/math/half.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/image_test_internal.h"

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

TEST(Normalize, TellsItsOptionsAndOtherKernelsHaveNone) {
  const KernelRef kernel = normalize({.mean = {0.5}, .std = {0.25}});
  ASSERT_NE(normalization_of(*kernel), nullptr);
  EXPECT_EQ(normalization_of(*kernel)->mean, std::vector<double>{0.5});
  EXPECT_EQ(normalization_of(*random_horizontal_flip()), nullptr);
}

}  // namespace
}  // namespace headpond

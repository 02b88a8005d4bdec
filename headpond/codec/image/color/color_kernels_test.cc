// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/color_kernels.h"

#include "headpond/codec/image/color/adjust.h"
#include "headpond/codec/image/color/color_test_internal.h"
#include "headpond/codec/image/color/levels.h"
#include "headpond/codec/image/color/neighbours.h"

namespace headpond {
namespace {

using color_test::after_kernel;
using color_test::bytes_of;
using color_test::bytes_picture;
using color_test::changed;
using color_test::unit_picture;

struct KernelAndFunction {
  KernelRef kernel;
  std::function<Result<void>(const Tensor&, std::byte*)> function;
};

// Each kernel and the function that it runs.
std::vector<KernelAndFunction> kernels_and_functions() {
  using In = const Tensor&;
  using Out = std::byte*;
  return {{adjust_brightness(1.4), [](In in, Out out) { return adjust_brightness(in, out, 1.4); }},
          {adjust_contrast(0.4), [](In in, Out out) { return adjust_contrast(in, out, 0.4); }},
          {adjust_saturation(1.9), [](In in, Out out) { return adjust_saturation(in, out, 1.9); }},
          {adjust_hue(-0.2), [](In in, Out out) { return adjust_hue(in, out, -0.2); }},
          {adjust_gamma(0.7, 1.2), [](In in, Out out) { return adjust_gamma(in, out, 0.7, 1.2); }},
          {adjust_sharpness(2), [](In in, Out out) { return adjust_sharpness(in, out, 2); }},
          {random_adjust_sharpness(2, 1), [](In in, Out out) { return adjust_sharpness(in, out, 2); }},
          {random_grayscale(1), [](In in, Out out) { return to_grayscale(in, out, 3); }},
          {to_grayscale(3), [](In in, Out out) { return to_grayscale(in, out, 3); }},
          {invert(), [](In in, Out out) { return invert(in, out); }},
          {random_invert(1), [](In in, Out out) { return invert(in, out); }},
          {solarize(0.5), [](In in, Out out) { return solarize(in, out, 0.5); }},
          {random_solarize(0.5, 1), [](In in, Out out) { return solarize(in, out, 0.5); }},
          {posterize(2), [](In in, Out out) { return posterize(in, out, 2); }},
          {random_posterize(2, 1), [](In in, Out out) { return posterize(in, out, 2); }},
          {equalize(), [](In in, Out out) { return equalize(in, out); }},
          {random_equalize(1), [](In in, Out out) { return equalize(in, out); }},
          {autocontrast(), [](In in, Out out) { return autocontrast(in, out); }},
          {random_autocontrast(1), [](In in, Out out) { return autocontrast(in, out); }}};
}

TEST(ColorKernels, DoWhatTheFunctionsDo) {
  for (const auto& [kernel, function] : kernels_and_functions()) {
    for (const Tensor& image : {bytes_picture(19, 23, 3), unit_picture(19, 23, 3), bytes_picture(1, 1, 3)}) {
      EXPECT_EQ(bytes_of(after_kernel(kernel, image)), bytes_of(changed(image, function))) << kernel->facts().title;
    }
  }
}

TEST(ColorKernels, TheRandomFormsNeverRunForP0) {
  const Tensor image = bytes_picture(20, 20, 3);
  for (const KernelRef& kernel :
       {random_adjust_sharpness(3, 0), random_grayscale(0), random_invert(0), random_solarize(1, 0),
        random_posterize(1, 0), random_equalize(0), random_autocontrast(0)}) {
    for (uint64_t key = 0; key < 20; ++key) {
      EXPECT_EQ(bytes_of(after_kernel(kernel, image, {.key = key})), bytes_of(image)) << kernel->facts().title;
    }
  }
}

TEST(ColorKernels, BlurDrawsSigmaFromItsRange) {
  const Tensor image = bytes_picture(9, 9, 3);
  for (uint64_t key = 0; key < 5; ++key) {
    Random random(random_key(0, "gaussian_blur", 0, 0), key);
    const double sigma = 0.1 + (2.0 - 0.1) * static_cast<double>(random.uniform());
    BlurMemory memory;
    const Tensor expected = changed(image, [&](const Tensor& in, std::byte* out) {
      return gaussian_blur(in, out, {5, 3}, {sigma, sigma}, memory);
    });
    EXPECT_EQ(bytes_of(after_kernel(gaussian_blur({5, 3}), image, {.key = key})), bytes_of(expected));
  }
}

TEST(ColorKernels, GrayscaleChangesTheChannels) {
  EXPECT_EQ(after_kernel(grayscale(), bytes_picture(2, 3, 3)).shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(after_kernel(grayscale(3), bytes_picture(2, 3, 1)).shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(after_kernel(random_grayscale(1), bytes_picture(2, 3, 1)).shape(), (Shape{2, 3, 1}));
  const Spec in = {{"image", DType::u8, {kUnknown, kUnknown, 3}}};
  EXPECT_EQ(grayscale()->facts().result(in)[0].shape, (Shape{kUnknown, kUnknown, 1}));
}

TEST(ColorKernels, TitlesNameWhatIsNotTheDefault) {
  EXPECT_EQ(adjust_brightness(1.5)->facts().title, "adjust_brightness(brightness_factor=1.5)");
  EXPECT_EQ(adjust_gamma(2)->facts().title, "adjust_gamma(gamma=2)");
  EXPECT_EQ(adjust_gamma(2, 0.5)->facts().title, "adjust_gamma(gamma=2, gain=0.5)");
  EXPECT_EQ(random_grayscale()->facts().title, "random_grayscale");
  EXPECT_EQ(random_grayscale(0.5)->facts().title, "random_grayscale(p=0.5)");
  EXPECT_EQ(random_solarize(128, 0.1)->facts().title, "random_solarize(threshold=128, p=0.1)");
  EXPECT_EQ(gaussian_blur(23)->facts().title, "gaussian_blur(kernel_size=23)");
  EXPECT_EQ(gaussian_blur({3, 5}, 1.5)->facts().title, "gaussian_blur(kernel_size=[3,5], sigma=[1.5,1.5])");
  EXPECT_EQ(to_grayscale()->facts().title, "grayscale");
  EXPECT_EQ(random_invert()->facts().draws, "random_invert");
  EXPECT_EQ(invert()->facts().draws, "");
}

TEST(ColorKernels, RefuseOptionsWhenBuilt) {
  EXPECT_THROW(adjust_brightness(-1), Exception);
  EXPECT_THROW(adjust_hue(0.6), Exception);
  EXPECT_THROW(adjust_gamma(-1), Exception);
  EXPECT_THROW(adjust_sharpness(-1), Exception);
  EXPECT_THROW(grayscale(2), Exception);
  EXPECT_THROW(random_invert(1.5), Exception);
  EXPECT_THROW(posterize(9), Exception);
  EXPECT_THROW(solarize(256), Exception);
  EXPECT_THROW(gaussian_blur(4), Exception);
  EXPECT_THROW(gaussian_blur(257), Exception);
  EXPECT_THROW(gaussian_blur(3, {0, 1}), Exception);
  EXPECT_THROW(gaussian_blur(3, {2, 1}), Exception);
  EXPECT_THROW(solarize(128)->facts().result({{"image", DType::f32, {2, 2, 3}}}), Exception);
  EXPECT_NO_THROW(solarize(128)->facts().result({{"image", DType::u8, {2, 2, 3}}}));
}

}  // namespace
}  // namespace headpond

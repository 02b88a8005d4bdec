// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/adjust.h"

#include <functional>
#include <limits>

#include "headpond/codec/image/color/color_test_internal.h"

namespace headpond {
namespace {

using color_test::bytes_of;
using color_test::bytes_picture;
using color_test::changed;
using color_test::pixels;
using color_test::unit_picture;
using color_test::values_of;
using testing::Each;
using testing::ElementsAre;
using testing::FloatNear;
using Bytes = std::vector<uint8_t>;
using Adjust = Result<void> (*)(const Tensor&, std::byte*, double);

// Eight pixels: pure, grey, dark, bright and mixed ones.
const Bytes kAdjusted = {255, 0,   0,  0, 255, 0, 13, 200, 77,  128, 128, 128,
                         250, 240, 10, 1, 2,   3, 90, 30,  220, 255, 255, 254};

Bytes adjusted(Adjust function, double factor) {
  return values_of(
      changed(pixels(kAdjusted, 3), [&](const Tensor& image, std::byte* out) { return function(image, out, factor); }));
}

int largest_byte_difference(const Bytes& a, const Bytes& b) {
  int most = a.size() == b.size() ? 0 : 256;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

// Values of Pillow 13.0: ImageEnhance, and convert("L").
TEST(Adjust, BrightnessContrastAndSaturationHavePillowsValues) {
  EXPECT_EQ(adjusted(adjust_brightness, 1.5), (Bytes{255, 0,   0,  0, 255, 0, 19,  255, 115, 192, 192, 192,
                                                     255, 255, 15, 1, 3,   4, 135, 45,  255, 255, 255, 255}));
  EXPECT_EQ(adjusted(adjust_contrast, 0.5), (Bytes{192, 64,  64, 64, 192, 64, 71,  164, 103, 128, 128, 128,
                                                   189, 184, 69, 65, 65,  66, 109, 79,  174, 192, 192, 191}));
  EXPECT_EQ(adjusted(adjust_contrast, 1.8),
            (Bytes{255, 0, 0, 0, 255, 0, 0, 255, 35, 127, 127, 127, 255, 255, 0, 0, 0, 0, 58, 0, 255, 255, 255, 255}));
  EXPECT_EQ(adjusted(adjust_saturation, 0.3), (Bytes{129, 53,  53,  105, 181, 105, 94, 151, 114, 128, 128, 128,
                                                     226, 223, 154, 1,   2,   2,   76, 58,  115, 255, 255, 254}));
  EXPECT_EQ(adjusted(adjust_saturation, 2),
            (Bytes{255, 0, 0, 0, 255, 0, 0, 255, 24, 128, 128, 128, 255, 255, 0, 0, 2, 4, 110, 0, 255, 255, 255, 253}));
}

TEST(Adjust, GreyHasPillowsValues) {
  const Tensor image = pixels(kAdjusted, 3);
  Bytes grey(8);
  ASSERT_TRUE(to_grayscale(image, reinterpret_cast<std::byte*>(grey.data())));
  EXPECT_THAT(grey, ElementsAre(76, 150, 130, 128, 217, 2, 70, 255));
  Bytes three(24);
  ASSERT_TRUE(to_grayscale(image, reinterpret_cast<std::byte*>(three.data()), 3));
  for (size_t i = 0; i < three.size(); ++i) EXPECT_EQ(three[i], grey[i / 3]);
  Bytes repeated(24);
  ASSERT_TRUE(to_grayscale(pixels(grey), reinterpret_cast<std::byte*>(repeated.data()), 3));
  EXPECT_EQ(repeated, three);
}

// Values of torchvision 0.14 on tensors, which rounds through 255.999 x.
TEST(Adjust, HueAndGammaAreNearTorchvisions) {
  EXPECT_LE(
      largest_byte_difference(adjusted(adjust_hue, 0.1), {255, 153, 0,  0, 255, 153, 13,  200, 189, 128, 128, 128,
                                                          116, 250, 10, 1, 1,   3,   204, 29,  220, 254, 255, 254}),
      1);
  EXPECT_LE(
      largest_byte_difference(adjusted(adjust_hue, -0.3), {50,  0,  255, 255, 51, 0, 200, 114, 13,  128, 128, 128,
                                                           250, 10, 212, 1,   3,  1, 29,  220, 128, 255, 254, 254}),
      1);
  const auto gamma = [](double power, double gain) {
    return values_of(changed(pixels(kAdjusted, 3), [=](const Tensor& image, std::byte* out) {
      return adjust_gamma(image, out, power, gain);
    }));
  };
  EXPECT_EQ(gamma(0.5, 1), (Bytes{255, 0,   0,  0,  255, 0,  57,  226, 140, 181, 181, 181,
                                  253, 248, 50, 16, 22,  27, 152, 87,  237, 255, 255, 255}));
  EXPECT_EQ(gamma(2.2, 1.1),
            (Bytes{255, 0, 0, 0, 255, 0, 0, 165, 20, 61, 61, 61, 255, 246, 0, 0, 0, 0, 28, 2, 203, 255, 255, 255}));
}

TEST(Adjust, FloatsAreNearTorchvisions) {
  std::vector<float> values;
  for (const uint8_t value : kAdjusted) values.push_back(static_cast<float>(value) / 255);
  const auto third_pixel = [&](Adjust function, double factor) {
    const Tensor out =
        changed(pixels(values, 3), [&](const Tensor& image, std::byte* to) { return function(image, to, factor); });
    const auto all = out.as<float>();
    return std::vector<float>(all.begin() + 6, all.begin() + 9);
  };
  constexpr float kNear = 2e-4F;  // Their weights of grey add up to 0.9999.
  EXPECT_THAT(third_pixel(adjust_hue, 0.1),
              ElementsAre(FloatNear(0.0510F, kNear), FloatNear(0.7843F, kNear), FloatNear(0.7420F, kNear)));
  EXPECT_THAT(third_pixel(adjust_saturation, 0.3),
              ElementsAre(FloatNear(0.3723F, kNear), FloatNear(0.5923F, kNear), FloatNear(0.4476F, kNear)));
  EXPECT_THAT(third_pixel(adjust_contrast, 0.5),
              ElementsAre(FloatNear(0.2772F, kNear), FloatNear(0.6439F, kNear), FloatNear(0.4027F, kNear)));
}

TEST(Adjust, NeutralFactorsChangeNoByte) {
  const Tensor image = bytes_picture(13, 17, 3);
  const auto all = [&](Adjust function, double factor) {
    return bytes_of(changed(image, [&](const Tensor& in, std::byte* out) { return function(in, out, factor); }));
  };
  EXPECT_EQ(all(adjust_brightness, 1), bytes_of(image));
  EXPECT_EQ(all(adjust_contrast, 1), bytes_of(image));
  EXPECT_EQ(all(adjust_saturation, 1), bytes_of(image));
  EXPECT_EQ(all(adjust_hue, 0), bytes_of(image));
  EXPECT_NE(all(adjust_hue, 0.01), bytes_of(image)) << "control";
}

TEST(Adjust, AWholeTurnOfTheHueInPartsComesBack) {
  Tensor image = bytes_picture(5, 9, 3);
  const std::string before = bytes_of(image);
  for (int i = 0; i < 6; ++i) {
    image = changed(image, [](const Tensor& in, std::byte* out) { return adjust_hue(in, out, 1.0 / 6); });
  }
  EXPECT_EQ(bytes_of(image), before);
}

TEST(Adjust, TheImagesOwnMemoryMayBeTheResult) {
  for (const auto& [function, factor] : {std::pair<Adjust, double>{adjust_brightness, 1.2},
                                         {adjust_contrast, 0.7},
                                         {adjust_saturation, 1.4},
                                         {adjust_hue, 0.2}}) {
    for (const Tensor& image : {bytes_picture(7, 21, 3), unit_picture(7, 21, 3)}) {
      const Tensor apart = changed(image, [&](const Tensor& in, std::byte* out) { return function(in, out, factor); });
      std::string memory = bytes_of(image);
      auto* const data = reinterpret_cast<std::byte*>(memory.data());
      ASSERT_TRUE(function(Tensor::writable_view(data, image.dtype(), image.shape()), data, factor));
      EXPECT_EQ(memory, bytes_of(apart));
    }
  }
}

TEST(Adjust, OneChannelHasNeitherSaturationNorHue) {
  const Tensor image = bytes_picture(3, 5, 1);
  for (const Adjust function : {adjust_saturation, adjust_hue}) {
    const auto run = [&](const Tensor& in, std::byte* out) { return function(in, out, 0.25); };
    EXPECT_EQ(bytes_of(changed(image, run)), bytes_of(image));
  }
}

TEST(Adjust, ExtremeFactorsAndEmptyImagesAreSafe) {
  for (const auto& [function, factor] : {std::pair<Adjust, double>{adjust_brightness, 1e30},
                                         {adjust_contrast, 1e30},
                                         {adjust_saturation, 1e30},
                                         {adjust_hue, -0.5}}) {
    const auto run = [&](const Tensor& in, std::byte* out) { return function(in, out, factor); };
    for (const int64_t channels : {1, 3}) {
      for (const int64_t size : {0, 1, 5}) {
        (void)changed(bytes_picture(size, 1, channels), run);
        const Tensor units = changed(unit_picture(1, size, channels), run);
        for (const float value : units.as<float>()) EXPECT_TRUE(value >= 0 && value <= 1) << factor;
      }
    }
  }
  EXPECT_THAT(adjusted(adjust_brightness, 0), Each(0));
}

TEST(Adjust, RefusesImagesAndOptions) {
  const Tensor image = bytes_picture(2, 2, 3);
  std::byte out[64];
  EXPECT_FALSE(adjust_brightness(image, out, -0.1));
  EXPECT_FALSE(adjust_brightness(image, out, std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(adjust_contrast(image, out, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(adjust_hue(image, out, 0.51));
  EXPECT_FALSE(adjust_gamma(image, out, -1));
  EXPECT_FALSE(to_grayscale(image, out, 2));
  EXPECT_FALSE(adjust_saturation(bytes_picture(2, 2, 2), out, 1));
  EXPECT_FALSE(adjust_brightness(Tensor::scalar(1.0F), out, 1));
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/neighbours.h"

#include <limits>

#include "headpond/codec/image/color/color_test_internal.h"

namespace headpond {
namespace {

using color_test::bytes_of;
using color_test::bytes_picture;
using color_test::changed;
using color_test::largest_difference;
using color_test::unit_picture;
using color_test::values_of;
using testing::Each;
using testing::ElementsAre;
using testing::FloatNear;

Tensor small_grey() {
  std::vector<uint8_t> values;
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 5; ++x) values.push_back(static_cast<uint8_t>((37 * y + 11 * x * x) % 256));
  }
  return Tensor::from(values, {4, 5, 1});
}

Tensor blurred(const Tensor& image, std::array<int64_t, 2> size, std::array<double, 2> sigma) {
  BlurMemory memory;
  return changed(image, [&](const Tensor& in, std::byte* out) { return gaussian_blur(in, out, size, sigma, memory); });
}
Tensor sharp(const Tensor& image, double factor) {
  return changed(image, [=](const Tensor& in, std::byte* out) { return adjust_sharpness(in, out, factor); });
}

// Values of torchvision 0.14 on tensors.
TEST(Neighbours, BlurHasTorchvisionsValues) {
  EXPECT_THAT(values_of(blurred(small_grey(), {3, 3}, {1, 1})),
              ElementsAre(26, 37, 70, 125, 154, 43, 54, 87, 142, 171, 80, 91, 124, 160, 176, 97, 108, 141, 164, 172));
  EXPECT_THAT(values_of(blurred(small_grey(), {5, 3}, {2, 0.7})),
              ElementsAre(34, 45, 78, 106, 117, 55, 66, 99, 127, 139, 92, 103, 128, 153, 162, 114, 125, 135, 153, 160));
  std::vector<float> units;
  for (const uint8_t value : values_of(small_grey())) units.push_back(static_cast<float>(value) / 255);
  const auto smooth = values_of<float>(blurred(Tensor::from(units, {4, 5, 1}), {3, 3}, {1, 1}));
  constexpr float kNear = 1e-4F;
  EXPECT_THAT(std::vector(smooth.begin(), smooth.begin() + 5),
              ElementsAre(FloatNear(0.1032F, kNear), FloatNear(0.1463F, kNear), FloatNear(0.2757F, kNear),
                          FloatNear(0.4914F, kNear), FloatNear(0.6042F, kNear)));
}

// Values of Pillow 13.0: ImageEnhance.Sharpness.
TEST(Neighbours, SharpnessHasPillowsValues) {
  EXPECT_THAT(values_of(sharp(small_grey(), 0)),
              ElementsAre(0, 11, 44, 99, 176, 37, 53, 86, 141, 213, 74, 90, 123, 158, 250, 111, 122, 155, 210, 31));
  EXPECT_THAT(values_of(sharp(small_grey(), 2.5)),
              ElementsAre(0, 11, 44, 99, 176, 37, 40, 73, 128, 213, 74, 77, 110, 195, 250, 111, 122, 155, 210, 31));
}

TEST(Neighbours, NeutralOptionsChangeNoByte) {
  const Tensor image = bytes_picture(11, 13, 3);
  EXPECT_EQ(bytes_of(sharp(image, 1)), bytes_of(image));
  EXPECT_EQ(bytes_of(blurred(image, {1, 1}, {5, 5})), bytes_of(image));
  EXPECT_EQ(bytes_of(blurred(image, {9, 9}, {1e-30, 0.01})), bytes_of(image));
  EXPECT_NE(bytes_of(blurred(image, {9, 9}, {0.5, 0.5})), bytes_of(image)) << "control";
}

TEST(Neighbours, ConstantImagesStayAsTheyAreInAnySizeAndWindow) {
  for (const int value : {1, 128, 255}) {
    for (const auto& [height, width] : {std::pair<int64_t, int64_t>{1, 1}, {1, 7}, {2, 3}, {30, 2}, {12, 12}}) {
      const std::vector<uint8_t> values(static_cast<size_t>(height * width * 3), static_cast<uint8_t>(value));
      const Tensor image = Tensor::from(values, {height, width, 3});
      EXPECT_EQ(values_of(blurred(image, {23, 5}, {9, 2})), values);
      EXPECT_EQ(values_of(blurred(image, {255, 255}, {1e30, 1e30})), values);
      EXPECT_THAT(values_of(sharp(image, 1e30)), Each(value));
    }
  }
}

// The exact weighted mean of each window, in double.
Tensor plainly_blurred(const Tensor& image, int64_t size, double sigma) {
  const int64_t height = image.dim(0), width = image.dim(1), radius = size / 2;
  const auto mirrored = [](int64_t i, int64_t n) {
    while (i < 0 || i >= n) i = n == 1 ? 0 : i < 0 ? -i : 2 * (n - 1) - i;
    return i;
  };
  std::vector<float> out;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      double sum = 0, weights = 0;
      for (int64_t dy = -radius; dy <= radius; ++dy) {
        for (int64_t dx = -radius; dx <= radius; ++dx) {
          const double weight = std::exp(-static_cast<double>(dx * dx + dy * dy) / (2 * sigma * sigma));
          const int64_t at = mirrored(y + dy, height) * width + mirrored(x + dx, width);
          sum += weight * static_cast<double>(image.as<float>()[static_cast<size_t>(at)]);
          weights += weight;
        }
      }
      out.push_back(static_cast<float>(sum / weights));
    }
  }
  return Tensor::from(out, image.shape());
}

TEST(Neighbours, BlurIsTheWeightedMeanOfTheMirroredImage) {
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{1, 1}, {1, 9}, {3, 4}, {17, 23}}) {
    for (const int64_t size : {3, 9, 21}) {
      const Tensor exact = plainly_blurred(unit_picture(height, width, 1), size, 1.7);
      const Tensor units = blurred(unit_picture(height, width, 1), {size, size}, {1.7, 1.7});
      EXPECT_LT(largest_difference(units, exact), 1e-6);
      const Tensor bytes = blurred(bytes_picture(height, width, 1), {size, size}, {1.7, 1.7});
      for (size_t i = 0; i < bytes.as<uint8_t>().size(); ++i) {
        ASSERT_NEAR(bytes.as<uint8_t>()[i], static_cast<double>(exact.as<float>()[i]) * 255, 0.52);
      }
    }
  }
}

TEST(Neighbours, ChannelsAreApart) {
  const Tensor image = bytes_picture(9, 8, 4);
  const auto together = values_of(blurred(image, {5, 7}, {2, 1}));
  for (size_t c = 0; c < 4; ++c) {
    std::vector<uint8_t> plane, expected;
    for (size_t i = c; i < together.size(); i += 4) {
      plane.push_back(image.as<uint8_t>()[i]);
      expected.push_back(together[i]);
    }
    EXPECT_EQ(values_of(blurred(Tensor::from(plane, {9, 8, 1}), {5, 7}, {2, 1})), expected);
  }
}

TEST(Neighbours, ImagesWithoutAMiddleKeepTheirSharpness) {
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{0, 5}, {1, 1}, {2, 9}, {9, 2}}) {
    const Tensor image = bytes_picture(height, width, 3), units = unit_picture(height, width, 3);
    EXPECT_EQ(bytes_of(sharp(image, 3)), bytes_of(image));
    EXPECT_EQ(bytes_of(sharp(units, 3)), bytes_of(units));
  }
  (void)blurred(bytes_picture(0, 5, 3), {3, 3}, {1, 1});
}

TEST(Neighbours, MemoryOfAnotherImageDoesNotMatter) {
  BlurMemory memory;
  const auto run = [&](const Tensor& in, std::byte* out) { return gaussian_blur(in, out, {7, 5}, {1, 1}, memory); };
  (void)changed(unit_picture(30, 40, 3), run);
  const Tensor image = bytes_picture(6, 9, 3);
  EXPECT_EQ(bytes_of(changed(image, run)), bytes_of(blurred(image, {7, 5}, {1, 1})));
}

TEST(Neighbours, RefusesOptions) {
  const Tensor image = bytes_picture(2, 2, 3);
  BlurMemory memory;
  std::byte out[16];
  EXPECT_FALSE(gaussian_blur(image, out, {2, 3}, {1, 1}, memory));
  EXPECT_FALSE(gaussian_blur(image, out, {3, 257}, {1, 1}, memory));
  EXPECT_FALSE(gaussian_blur(image, out, {3, 3}, {0, 1}, memory));
  EXPECT_FALSE(gaussian_blur(image, out, {3, 3}, {1, std::numeric_limits<double>::quiet_NaN()}, memory));
  EXPECT_FALSE(adjust_sharpness(image, out, -1));
}

}  // namespace
}  // namespace headpond

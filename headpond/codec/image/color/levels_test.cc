// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/levels.h"

#include <limits>
#include <numeric>

#include "headpond/codec/image/color/color_test_internal.h"

namespace headpond {
namespace {

using color_test::bytes_of;
using color_test::bytes_picture;
using color_test::changed;
using color_test::pixels;
using color_test::unit_picture;
using color_test::values_of;
using testing::ElementsAre;
using testing::FloatEq;
using LevelBytes = std::vector<uint8_t>;

const LevelBytes kLevels = {255, 0,   0,  0, 255, 0, 13, 200, 77,  128, 128, 128,
                            250, 240, 10, 1, 2,   3, 90, 30,  220, 255, 255, 254};

Tensor equalized(const Tensor& image) {
  return changed(image, [](const Tensor& in, std::byte* out) { return equalize(in, out); });
}
Tensor stretched(const Tensor& image) {
  return changed(image, [](const Tensor& in, std::byte* out) { return autocontrast(in, out); });
}

// Values of Pillow 13.0: ImageOps.
TEST(Levels, HavePillowsValues) {
  const Tensor image = pixels(kLevels, 3);
  EXPECT_EQ(values_of(changed(image, [](const Tensor& in, std::byte* out) { return solarize(in, out, 128); })),
            (LevelBytes{0, 0, 0, 0, 0, 0, 13, 55, 77, 127, 127, 127, 5, 15, 10, 1, 2, 3, 90, 30, 35, 0, 0, 1}));
  EXPECT_EQ(
      values_of(changed(image, [](const Tensor& in, std::byte* out) { return posterize(in, out, 3); })),
      (LevelBytes{224, 0, 0, 0, 224, 0, 0, 192, 64, 128, 128, 128, 224, 224, 0, 0, 0, 0, 64, 0, 192, 224, 224, 224}));
  EXPECT_EQ(values_of(stretched(image)), (LevelBytes{255, 0,   0,  0, 255, 0, 13, 200, 77,  128, 128, 128,
                                                     250, 240, 10, 1, 2,   3, 90, 30,  220, 255, 255, 255}));
}

TEST(Levels, EqualizeHasPillowsValues) {
  LevelBytes values;
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 32; ++x) values.push_back(static_cast<uint8_t>((7 * y * y + 3 * x) % 251));
  }
  const LevelBytes even = values_of(equalized(Tensor::from(values, {20, 32, 1})));
  EXPECT_THAT(std::vector(even.begin(), even.begin() + 8), ElementsAre(0, 3, 7, 11, 15, 20, 25, 30));
  EXPECT_THAT(std::vector(even.end() - 8, even.end()), ElementsAre(149, 155, 162, 168, 174, 179, 183, 188));
  uint64_t sum = 0;
  for (size_t i = 0; i < even.size(); ++i) sum += (i + 1) * even[i];
  EXPECT_EQ(sum, 31337192U);
}

TEST(Levels, InvertTwiceIsTheImage) {
  const auto twice = [](const Tensor& in, std::byte* out) {
    if (auto done = invert(in, out); !done) return done;
    return invert(Tensor::writable_view(out, in.dtype(), in.shape()), out);
  };
  for (const int64_t channels : {1, 2, 3, 4}) {
    const Tensor image = bytes_picture(3, 7, channels);
    EXPECT_EQ(bytes_of(changed(image, twice)), bytes_of(image));
  }
  const Tensor once =
      changed(pixels(std::vector<float>{0.25F, 1}), [](const Tensor& in, std::byte* out) { return invert(in, out); });
  EXPECT_THAT(values_of<float>(once), ElementsAre(0.75F, 0.0F));
}

TEST(Levels, FloatsOfSolarizeAndPosterize) {
  const Tensor image = pixels(std::vector<float>{0, 0.49F, 0.5F, 1, 1.5F, -1});
  EXPECT_THAT(values_of<float>(changed(image, [](const Tensor& in, std::byte* out) { return solarize(in, out, 0.5); })),
              ElementsAre(0.0F, 0.49F, 0.5F, 0.0F, -0.5F, -1.0F));
  EXPECT_THAT(values_of<float>(changed(image, [](const Tensor& in, std::byte* out) { return posterize(in, out, 2); })),
              ElementsAre(0.0F, 0.25F, 0.5F, 0.75F, 0.75F, 0.0F));
}

TEST(Levels, FloatsOfEqualizeAndAutocontrastFollowTheBytes) {
  const Tensor image = bytes_picture(40, 40, 3), units = unit_picture(40, 40, 3);
  const LevelBytes even = values_of(equalized(image));
  const Tensor even_units = equalized(units);
  for (size_t i = 0; i < even.size(); ++i) {
    ASSERT_NEAR(even_units.as<float>()[i], static_cast<float>(even[i]) / 255, 1e-6) << i;
  }
  EXPECT_THAT(values_of<float>(stretched(pixels(std::vector<float>{0.2F, 0.4F, 0.6F}))),
              ElementsAre(0.0F, FloatEq(0.5F), 1.0F));
}

TEST(Levels, ConstantImagesStayAsTheyAre) {
  for (const int value : {0, 7, 255}) {
    const Tensor image = pixels(LevelBytes(900, static_cast<uint8_t>(value)), 3);
    EXPECT_EQ(bytes_of(equalized(image)), bytes_of(image));
    EXPECT_EQ(bytes_of(stretched(image)), bytes_of(image));
  }
  const Tensor units = pixels(std::vector<float>(300, 0.6F), 3);
  EXPECT_EQ(bytes_of(stretched(units)), bytes_of(units));
}

TEST(Levels, EqualizeNeeds255PixelsBelowTheLargestValue) {
  LevelBytes few(300, 200);
  std::fill_n(few.begin(), 254, uint8_t{10});
  EXPECT_EQ(values_of(equalized(pixels(few))), few);
  few[254] = 10;
  EXPECT_NE(values_of(equalized(pixels(few))), few) << "control";
}

TEST(Levels, ChannelsAreApart) {
  const Tensor image = bytes_picture(20, 30, 4);
  const LevelBytes together = values_of(equalized(image));
  const LevelBytes values = values_of(image);
  for (size_t c = 0; c < 4; ++c) {
    LevelBytes plane, expected;
    for (size_t i = c; i < values.size(); i += 4) {
      plane.push_back(values[i]);
      expected.push_back(together[i]);
    }
    EXPECT_EQ(values_of(equalized(pixels(plane))), expected);
  }
}

TEST(Levels, OddFloatsAndEmptyImagesAreSafe) {
  const float none = std::numeric_limits<float>::quiet_NaN(), most = std::numeric_limits<float>::infinity();
  const Tensor image = pixels(std::vector<float>{none, most, -most, 0.5F, -2, 1e30F});
  (void)equalized(image);
  (void)stretched(image);
  (void)changed(image, [](const Tensor& in, std::byte* out) { return posterize(in, out, 0); });
  (void)equalized(bytes_picture(0, 3, 3));
  (void)stretched(bytes_picture(3, 0, 2));
  (void)stretched(bytes_picture(1, 1, 1));
}

TEST(Levels, RefusesOptions) {
  std::byte out[8];
  const Tensor bytes = pixels(LevelBytes{1}), units = pixels(std::vector<float>{1});
  EXPECT_FALSE(solarize(bytes, out, 255.5));
  EXPECT_TRUE(solarize(bytes, out, 255));
  EXPECT_FALSE(solarize(units, out, 1.5));
  EXPECT_FALSE(posterize(bytes, out, 9));
  EXPECT_FALSE(posterize(bytes, out, -1));
  EXPECT_FALSE(invert(Tensor::scalar(1), out));
}

}  // namespace
}  // namespace headpond

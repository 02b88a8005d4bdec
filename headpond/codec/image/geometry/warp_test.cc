// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/geometry/warp.h"

#include <gmock/gmock.h>

#include <limits>

#include "headpond/codec/image/geometry/geometry_test_internal.h"

namespace headpond {
namespace {

using test::noise_picture;
using test::same_bytes;
using testing::ElementsAre;
using testing::HasSubstr;

const WarpOptions kBilinearWarp = {.interpolation = Interpolation::bilinear};

Tensor warped_picture(const Tensor& image, const ImageMap& map, const WarpOptions& options = {}) {
  auto result = warp(image, map, options);
  EXPECT_TRUE(result) << result.error();
  return result ? *result : Tensor();
}

Tensor counted_picture(int64_t height, int64_t width) {
  Tensor picture = Tensor::empty(DType::u8, {height, width, 1});
  uint8_t next = 0;
  for (uint8_t& value : picture.mutable_as<uint8_t>()) value = ++next;
  return picture;
}

TEST(Warp, OfTheIdentityGivesTheImagesBytes) {
  for (const auto interpolation : {Interpolation::nearest, Interpolation::bilinear}) {
    for (const int64_t side : {1, 2, 17}) {
      const Tensor image = noise_picture(side, side + 3, 3);
      EXPECT_TRUE(
          same_bytes(warped_picture(image, affine_map(side, side + 3, {}), {.interpolation = interpolation}), image));
      const Tensor floats = test::as_float_picture(image);
      EXPECT_TRUE(
          same_bytes(warped_picture(floats, affine_map(side, side + 3, {}), {.interpolation = interpolation}), floats));
    }
  }
}

TEST(Warp, MovesByWholePixelsWithTheSameBytesInBothModes) {
  const ImageMap map = affine_map(3, 3, {.translate = {1, -1}});
  for (const WarpOptions& options : {WarpOptions{.fill = {9}}, WarpOptions{Interpolation::bilinear, {9}}}) {
    EXPECT_THAT(warped_picture(counted_picture(3, 3), map, options).as<uint8_t>(),
                ElementsAre(9, 4, 5, 9, 7, 8, 9, 9, 9));
  }
}

TEST(Warp, TurnsByAQuarter) {
  EXPECT_THAT(warped_picture(counted_picture(2, 3), rotation_map(2, 3, 90, true)).as<uint8_t>(),
              ElementsAre(3, 6, 2, 5, 1, 4));
  EXPECT_THAT(warped_picture(counted_picture(2, 3), rotation_map(2, 3, 90, true), kBilinearWarp).as<uint8_t>(),
              ElementsAre(3, 6, 2, 5, 1, 4));
  EXPECT_THAT(warped_picture(counted_picture(2, 3), rotation_map(2, 3, 180)).as<uint8_t>(),
              ElementsAre(6, 5, 4, 3, 2, 1));
}

TEST(Warp, FourQuartersAreAWholeTurn) {
  for (const int64_t side : {1, 2, 5, 16}) {
    const Tensor image = noise_picture(side, side, 3);
    Tensor turned = image;
    for (int i = 0; i < 4; ++i) turned = warped_picture(turned, rotation_map(side, side, 90), kBilinearWarp);
    EXPECT_TRUE(same_bytes(turned, image));
  }
}

TEST(Warp, MixesHalfAPixelWithTheFillAtTheEdge) {
  const Tensor image = Tensor::from(std::vector<uint8_t>{100, 200}, {1, 2, 1});
  const ImageMap map = affine_map(1, 2, {.translate = {0.5, 0}});
  EXPECT_THAT(warped_picture(image, map, kBilinearWarp).as<uint8_t>(), ElementsAre(50, 150));
  EXPECT_THAT(warped_picture(image, map, {Interpolation::bilinear, {20}}).as<uint8_t>(), ElementsAre(60, 150));
  const Tensor floats = Tensor::from(std::vector<float>{1, 2}, {1, 2, 1});
  EXPECT_THAT(warped_picture(floats, map, {Interpolation::bilinear, {4}}).as<float>(), ElementsAre(2.5F, 1.5F));
}

TEST(Warp, TakesTheRightPixelOnAnEdgeOfTwo) {
  const ImageMap map = affine_map(1, 2, {.translate = {0.5, 0}});
  EXPECT_THAT(warped_picture(counted_picture(1, 2), map).as<uint8_t>(), ElementsAre(1, 2));
}

TEST(Warp, DoesNotReadAFloatWithoutWeight) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor image = Tensor::from(std::vector<float>{1, nan, 3}, {1, 3, 1});
  const Tensor moved = warped_picture(image, affine_map(1, 3, {.translate = {-2, 0}}), kBilinearWarp);
  EXPECT_THAT(moved.as<float>(), ElementsAre(3, 0, 0));
  const Tensor turned = warped_picture(image, rotation_map(1, 3, 180), kBilinearWarp);
  EXPECT_EQ(turned.as<float>()[0], 3);
  EXPECT_EQ(turned.as<float>()[2], 1);
}

TEST(Warp, FillsEachChannelWithItsValue) {
  const Tensor image = noise_picture(2, 2, 3);
  const Tensor gone = warped_picture(image, affine_map(2, 2, {.translate = {5, 0}}), {.fill = {1, 2, 255}});
  EXPECT_THAT(gone.as<uint8_t>().subspan(0, 6), ElementsAre(1, 2, 255, 1, 2, 255));
}

TEST(Warp, MovesMasksOfEveryDType) {
  const ImageMap map = affine_map(2, 2, {.translate = {1, 0}});
  const Tensor labels = Tensor::from(std::vector<int64_t>{1, -2, 3, int64_t{1} << 60}, {2, 2});
  EXPECT_THAT(warped_picture(labels, map, {.fill = {-1}}).as<int64_t>(), ElementsAre(-1, 1, -1, 3));
  const Tensor wide = Tensor::from(std::vector<uint16_t>{1, 2, 3, 65535}, {2, 2, 1});
  EXPECT_THAT(warped_picture(wide, map, {.fill = {65535}}).as<uint16_t>(), ElementsAre(65535, 1, 65535, 3));
  const Tensor doubles = Tensor::from(std::vector<double>{1, 2, 3, 4}, {2, 2});
  EXPECT_THAT(warped_picture(doubles, map, {.fill = {0.5}}).as<double>(), ElementsAre(0.5, 1, 0.5, 3));
  const Tensor flags = Tensor::from(std::vector<bool>{true, false, true, true}, {2, 2});
  EXPECT_THAT(warped_picture(flags, map).as<uint8_t>(), ElementsAre(0, 1, 0, 1));
}

TEST(Warp, TakesImagesWithoutPixels) {
  const Tensor none = Tensor::empty(DType::u8, {0, 4, 3});
  EXPECT_EQ(warped_picture(none, affine_map(0, 4, {.angle = 10})).shape(), (Shape{0, 4, 3}));
  EXPECT_EQ(warped_picture(none, affine_map(0, 4, {.angle = 10}), kBilinearWarp).shape(), (Shape{0, 4, 3}));
}

std::string refused_warp(const Tensor& image, const WarpOptions& options, ImageMap map = rotation_map(2, 2, 45)) {
  const auto result = warp(image, map, options);
  return result ? "" : result.error().message();
}

TEST(Warp, RefusesWhatItCannotMove) {
  const Tensor image = noise_picture(2, 2, 3);
  EXPECT_THAT(refused_warp(image, {.fill = {1, 2}}), HasSubstr("2 values for 3 channels"));
  EXPECT_THAT(refused_warp(image, {.fill = {256}}), HasSubstr("no value of uint8"));
  EXPECT_THAT(refused_warp(image, {.fill = {0.5}}), HasSubstr("no value of uint8"));
  EXPECT_THAT(refused_warp(image, {.fill = {std::numeric_limits<double>::quiet_NaN()}}), HasSubstr("fill is nan"));
  EXPECT_THAT(refused_warp(Tensor::from(std::vector<int32_t>{1}, {1, 1}), kBilinearWarp), HasSubstr("not int32"));
  EXPECT_THAT(refused_warp(Tensor::scalar(1.0F), {}), HasSubstr("not float32[]"));
  EXPECT_THAT(refused_warp(noise_picture(2, 2, 5), {}), HasSubstr("1 to 4 channels"));
  ImageMap wild = rotation_map(2, 2, 45);
  wild.to_image[0] = 1e30;
  EXPECT_THAT(refused_warp(image, {}, wild), HasSubstr("cannot be moved"));
  wild.to_image[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(refused_warp(image, {}, wild), HasSubstr("cannot be moved"));
  wild = rotation_map(2, 2, 45);
  wild.width = -1;
  EXPECT_THAT(refused_warp(image, {}, wild), HasSubstr("cannot be moved"));
}

TEST(Warp, FillsWithTheLimitsOf64Bits) {
  const ImageMap map = affine_map(1, 1, {.translate = {1, 0}});
  const Tensor label = Tensor::from(std::vector<int64_t>{1}, {1, 1});
  EXPECT_EQ(warped_picture(label, map, {.fill = {-0x1p63}}).as<int64_t>()[0], std::numeric_limits<int64_t>::min());
  EXPECT_THAT(refused_warp(label, {.fill = {0x1p63}}, map), HasSubstr("no value of int64"));
  const Tensor unsigned_label = Tensor::from(std::vector<uint64_t>{1}, {1, 1});
  EXPECT_EQ(warped_picture(unsigned_label, map, {.fill = {0x1p63}}).as<uint64_t>()[0], uint64_t{1} << 63);
  EXPECT_THAT(refused_warp(unsigned_label, {.fill = {0x1p64}}, map), HasSubstr("no value of uint64"));
}

}  // namespace
}  // namespace headpond

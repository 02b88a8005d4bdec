// SPDX-License-Identifier: Apache-2.0
// The loops against a plain reading of the definition, pixel by pixel, in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "headpond/codec/image/geometry/geometry_test_internal.h"
#include "headpond/codec/image/geometry/warp.h"
#include "headpond/codec/image/geometry/warp_rows_internal.h"

namespace headpond {
namespace {

using test::noise_picture;

// Where the middle of a pixel of the result comes from.
std::array<long double, 2> place_of(const ImageMap& map, int64_t x, int64_t y) {
  const auto& m = map.to_image;
  const auto at_x = static_cast<long double>(x) + 0.5L, at_y = static_cast<long double>(y) + 0.5L;
  const long double by = m[6] * at_x + m[7] * at_y + m[8];
  return {(m[0] * at_x + m[1] * at_y + m[2]) / by, (m[3] * at_x + m[4] * at_y + m[5]) / by};
}

bool near_an_edge(long double at) { return std::abs(at - std::round(at)) < 1e-4L; }

// Pixels that differ from the definition, but for those whose place is at an edge of two pixels.
int64_t wrong_pixels(const Tensor& image, const ImageMap& map, const ImageMap& definition) {
  const int64_t height = image.dim(0), width = image.dim(1), channels = image.dim(2);
  warp_internal::Picture picture = {.data = image.data(),
                                    .height = height,
                                    .width = width,
                                    .channels = channels,
                                    .pixel_bytes = static_cast<size_t>(channels)};
  std::memset(picture.fill.data(), 77, picture.fill.size());
  std::vector<std::byte> made(static_cast<size_t>(map.height * map.width * channels));
  warp_internal::write_nearest(picture, map, made.data());
  int64_t wrong = 0;
  for (int64_t i = 0; i < map.height * map.width; ++i) {
    const auto at = place_of(definition, i % map.width, i / map.width);
    if (near_an_edge(at[0]) || near_an_edge(at[1])) continue;
    const bool inside = at[0] >= 0 && at[0] < width && at[1] >= 0 && at[1] < height;
    for (int64_t channel = 0; channel < channels; ++channel) {
      const int64_t pixel = inside ? static_cast<int64_t>(at[1]) * width + static_cast<int64_t>(at[0]) : 0;
      const int expected = inside ? image.as<uint8_t>()[static_cast<size_t>(pixel * channels + channel)] : 77;
      wrong += static_cast<int>(made[static_cast<size_t>(i * channels + channel)]) != expected ? 1 : 0;
    }
  }
  return wrong;
}

int64_t wrong_pixels(const Tensor& image, const ImageMap& map) { return wrong_pixels(image, map, map); }

TEST(WarpRows, TakeThePixelThatTheDefinitionSays) {
  for (const auto& [height, width] : {std::pair(1, 1), std::pair(1, 9), std::pair(9, 1), std::pair(13, 21)}) {
    for (int64_t channels = 1; channels <= 4; ++channels) {
      const Tensor image = noise_picture(height, width, channels);
      for (const double angle : {0.0, 17.0, 90.0, -133.0, 180.0}) {
        EXPECT_EQ(wrong_pixels(image, affine_map(height, width, {.angle = angle, .scale = 0.8, .shear = {20, 5}})), 0);
        EXPECT_EQ(wrong_pixels(image, rotation_map(height, width, angle, true)), 0);
      }
    }
  }
}

TEST(WarpRows, TakeThePixelOfAPerspective) {
  const Tensor image = noise_picture(24, 31, 3);
  const Corners start = {XY{0, 0}, XY{30, 0}, XY{30, 23}, XY{0, 23}};
  EXPECT_EQ(wrong_pixels(image, perspective_map(24, 31, start, {XY{4, 3}, XY{25, 1}, XY{29, 20}, XY{1, 15}})), 0);
  // The horizon crosses the result.
  EXPECT_EQ(wrong_pixels(image, perspective_map(24, 31, start, {XY{14, 3}, XY{16, 3}, XY{30, 10}, XY{1, 10}})), 0);
}

// Values of floats are mixed pixel by pixel, and exact here: two weights of 8 bits and a value of 8 bits.
TEST(WarpRows, MixBytesAsTheyMixFloats) {
  for (const auto& [height, width] : {std::pair(1, 1), std::pair(2, 2), std::pair(3, 70), std::pair(90, 170)}) {
    for (int64_t channels = 1; channels <= 4; ++channels) {
      const Tensor image = noise_picture(height, width, channels);
      Tensor floats = Tensor::empty(DType::f32, image.shape());
      std::copy_n(image.as<uint8_t>().begin(), image.as<uint8_t>().size(), floats.mutable_as<float>().begin());
      for (const double angle : {3.0, 90.0, -133.0}) {
        const ImageMap map = affine_map(height, width, {.angle = angle, .translate = {0.3, 0.6}, .scale = 1.2});
        const WarpOptions options = {.interpolation = Interpolation::bilinear, .fill = {77}};
        const Tensor bytes = warp(image, map, options).value(), values = warp(floats, map, options).value();
        for (size_t i = 0; i < bytes.as<uint8_t>().size(); ++i) {
          ASSERT_EQ(bytes.as<uint8_t>()[i], std::floor(values.as<float>()[i] + 0.5F)) << angle << ", value " << i;
        }
      }
    }
  }
}

TEST(WarpRows, ReadNothingOutsideForHugeParameters) {
  const Tensor image = noise_picture(8, 8, 1);
  for (const double scale : {kMinScale, kMaxScale}) {
    for (const double shear : {-kMaxShear, kMaxShear}) {
      for (const double far : {-kMaxOffset, 0.0, kMaxOffset}) {
        const ImageMap map =
            affine_map(8, 8, {.angle = kMaxAngle, .translate = {far, -far}, .scale = scale, .shear = {shear, -shear}});
        EXPECT_LE(wrong_pixels(image, map), 64);
      }
    }
  }
}

// The control: the definition of a map that moves the image by a hundredth of a pixel more.
TEST(WarpRows, AreNotTakenForThoseOfAnotherMap) {
  const Tensor image = noise_picture(40, 60, 1);
  const ImageMap map = affine_map(40, 60, {.angle = 17});
  const ImageMap other = affine_map(40, 60, {.angle = 17.05});
  EXPECT_EQ(wrong_pixels(image, map), 0);
  EXPECT_GT(wrong_pixels(image, map, other), 0);
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "cli/view/picture.h"

#include <gmock/gmock.h>

#include "headpond/codec/image/png.h"

namespace headpond::cli {
namespace {

using testing::ElementsAre;

int64_t lit(const Picture& picture) {
  int64_t count = 0;
  for (size_t i = 0; i < picture.rgb.size(); i += 3) count += picture.rgb[i] > 0 ? 1 : 0;
  return count;
}

TEST(Picture, DrawsNothingOutside) {
  Picture picture(4, 3);
  picture.set(-1, 0, {9, 9, 9});
  picture.set(4, 0, {9, 9, 9});
  picture.fill(-5, -5, 3, 3, {9, 9, 9});
  picture.line(-1e300, 1e300, 0, INFINITY, {9, 9, 9});
  EXPECT_EQ(lit(picture), 0);
  picture.fill(2, 1, 100, 100, {9, 9, 9});
  EXPECT_EQ(lit(picture), 4);
}

TEST(Picture, OutlinesTheEdgesAlone) {
  Picture picture(6, 6);
  picture.outline({{1, 1}, {4, 1}, {4, 4}, {1, 4}}, {255, 0, 0});
  EXPECT_EQ(lit(picture), 12);
}

TEST(Picture, FitsByWholeFactorsAndByNearestPixels) {
  Picture picture(2, 1);
  picture.set(1, 0, {7, 8, 9});
  const Picture large = picture.fitted(5, 5);
  EXPECT_EQ(large.width, 4);
  EXPECT_EQ(large.height, 2);
  EXPECT_EQ(lit(large), 4);
  EXPECT_EQ(Picture(1000, 10).fitted(100, 100).height, 1);
}

TEST(Picture, NumbersHaveTheirDigits) {
  Picture picture(20, 8);
  picture.number(17, 0, 0, 1, {255, 255, 255});
  EXPECT_EQ(lit(picture), 5 + 7);
}

TEST(Picture, IsAPng) {
  Picture picture(2, 1);
  picture.set(1, 0, {7, 8, 9});
  const auto decoded = decode_png(encoded(picture).value());
  ASSERT_TRUE(decoded);
  EXPECT_THAT(decoded->pixels.as<uint8_t>(), ElementsAre(0, 0, 0, 7, 8, 9));
}

}  // namespace
}  // namespace headpond::cli

// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/geometry/image_map.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "headpond/base/status.h"

namespace headpond {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;

constexpr double kMapNan = std::numeric_limits<double>::quiet_NaN();
const Corners kImageCorners = {XY{0, 0}, XY{99, 0}, XY{99, 49}, XY{0, 49}};

auto near_xy(double x, double y) { return ElementsAre(DoubleNear(x, 1e-9), DoubleNear(y, 1e-9)); }

TEST(AffineMap, OfNothingIsTheIdentity) {
  const ImageMap map = affine_map(7, 9, {});
  EXPECT_TRUE(map.is_identity(7, 9));
  EXPECT_TRUE(map.is_affine());
  EXPECT_FALSE(map.is_identity(9, 7));
  EXPECT_THAT(mapped(map.to_result, {2, 3}), ElementsAre(2, 3));
}

TEST(AffineMap, TurnsClockwiseAroundTheMiddle) {
  const ImageMap map = affine_map(10, 10, {.angle = 90});
  EXPECT_THAT(mapped(map.to_result, {0, 0}), ElementsAre(10, 0));
  EXPECT_THAT(mapped(map.to_result, {10, 0}), ElementsAre(10, 10));
  EXPECT_THAT(mapped(map.to_image, {10, 0}), ElementsAre(0, 0));
}

// From torchvision's _get_inverse_affine_matrix, whose positions have this center too.
TEST(AffineMap, HasTorchvisionsMatrix) {
  const ImageMap map =
      affine_map(30, 40, {.angle = 20, .translate = {3, -4}, .scale = 1.5, .shear = {10, -5}, .center = XY{11, 7}});
  const std::array<double, 6> expected = {0.5765926454793694,  0.33495806262312033, 1.9228287754194682,
                                          -0.2828217298956005, 0.6065131570316004,  9.139964747443607};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(map.to_image[i], expected[i], 1e-9) << i;
}

TEST(AffineMap, GoesBackByItsInverse) {
  const ImageMap map = affine_map(64, 48, {.angle = -77, .translate = {5, 6}, .scale = 0.3, .shear = {40, 12}});
  for (const XY& at : {XY{0, 0}, XY{48, 0}, XY{13.5, 60.25}}) {
    EXPECT_THAT(mapped(map.to_image, mapped(map.to_result, at)), near_xy(at[0], at[1]));
  }
}

TEST(AffineMap, RefusesParametersOutOfRange) {
  EXPECT_NO_THROW(affine_map(1, 1, {.angle = kMaxAngle, .scale = kMinScale, .shear = {kMaxShear, -kMaxShear}}));
  EXPECT_THROW(affine_map(1, 1, {.angle = kMapNan}), Exception);
  EXPECT_THROW(affine_map(1, 1, {.angle = kMaxAngle * 1.001}), Exception);
  EXPECT_THROW(affine_map(1, 1, {.translate = {0, kMaxOffset * 1.001}}), Exception);
  EXPECT_THROW(affine_map(1, 1, {.scale = 0}), Exception);
  EXPECT_THROW(affine_map(1, 1, {.scale = kMaxScale * 1.001}), Exception);
  EXPECT_THROW(affine_map(1, 1, {.scale = kMapNan}), Exception);
  EXPECT_THROW(affine_map(1, 1, {.shear = {90, 0}}), Exception);
  EXPECT_THROW(affine_map(1, 1, {.shear = {0, kMapNan}}), Exception);
  EXPECT_THROW(affine_map(1, 1, {.center = XY{kMapNan, 0}}), Exception);
}

TEST(RotationMap, TurnsCounterClockwise) {
  const ImageMap map = rotation_map(10, 10, 90);
  EXPECT_THAT(mapped(map.to_result, {10, 0}), ElementsAre(0, 0));
  EXPECT_THAT(mapped(map.to_result, {0, 0}), ElementsAre(0, 10));
}

TEST(RotationMap, AddsNothingForWholeTurns) {
  EXPECT_TRUE(rotation_map(5, 4, 360).is_identity(5, 4));
  EXPECT_TRUE(rotation_map(5, 4, -720 * 1000).is_identity(5, 4));
}

TEST(RotationMap, ExpandsAsFarAsTheImageReaches) {
  const ImageMap quarter = rotation_map(30, 50, 90, true);
  EXPECT_EQ(quarter.height, 50);
  EXPECT_EQ(quarter.width, 30);
  EXPECT_THAT(mapped(quarter.to_result, {50, 0}), near_xy(0, 0));
  const ImageMap eighth = rotation_map(100, 100, 45, true);
  EXPECT_EQ(eighth.height, 142);
  EXPECT_EQ(eighth.width, 142);
  EXPECT_THAT(mapped(eighth.to_result, {50, 50}), near_xy(71, 71));
  EXPECT_EQ(rotation_map(30, 50, 180, true).width, 50);
}

TEST(RotationMap, RefusesTooManyPixelsAndACenterWithExpand) {
  EXPECT_THROW(rotation_map(1, int64_t{1} << 26, 45, true), Exception);
  EXPECT_NO_THROW(rotation_map(8000, 8000, 45, true));
  EXPECT_THROW(rotation_map(4, 4, 45, true, XY{1, 1}), Exception);
  EXPECT_THROW(rotation_map(4, 4, kMaxAngle * 2), Exception);
  EXPECT_THROW(rotation_map(4, 4, std::numeric_limits<double>::infinity()), Exception);
}

TEST(PerspectiveMap, TakesStartPointsToEndPoints) {
  const Corners end = {XY{5, 8}, XY{90, 2}, XY{80, 45}, XY{-3, 40}};
  const ImageMap map = perspective_map(50, 100, kImageCorners, end);
  EXPECT_FALSE(map.is_affine());
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_THAT(mapped(map.to_result, kImageCorners[i]), near_xy(end[i][0], end[i][1]));
    EXPECT_THAT(mapped(map.to_image, end[i]), near_xy(kImageCorners[i][0], kImageCorners[i][1]));
  }
}

TEST(PerspectiveMap, OfEqualPointsIsTheIdentity) {
  EXPECT_TRUE(perspective_map(50, 100, kImageCorners, kImageCorners).is_identity(50, 100));
}

TEST(PerspectiveMap, IsAffineForAParallelogram) {
  const Corners end = {XY{2, 3}, XY{101, 3}, XY{101, 52}, XY{2, 52}};
  const ImageMap map = perspective_map(50, 100, kImageCorners, end);
  EXPECT_TRUE(map.is_affine());
  EXPECT_THAT(mapped(map.to_result, {0, 0}), near_xy(2, 3));
}

TEST(PerspectiveMap, RefusesThreePointsOnALine) {
  EXPECT_TRUE(spans_a_plane(kImageCorners));
  Corners bad = kImageCorners;
  bad[2] = {49.5, 0};
  EXPECT_FALSE(spans_a_plane(bad));
  EXPECT_THROW(perspective_map(50, 100, bad, kImageCorners), Exception);
  EXPECT_THROW(perspective_map(50, 100, kImageCorners, bad), Exception);
  for (XY& corner : bad) corner = {1, 1};
  EXPECT_FALSE(spans_a_plane(bad));
  bad = kImageCorners;
  bad[0][0] = kMapNan;
  EXPECT_FALSE(spans_a_plane(bad));
  bad[0][0] = 2 * kMaxOffset;
  EXPECT_FALSE(spans_a_plane(bad));
}

}  // namespace
}  // namespace headpond

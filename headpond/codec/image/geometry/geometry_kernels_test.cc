// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/geometry/geometry_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headpond/codec/image/geometry/geometry_test_internal.h"

namespace headpond {
namespace {

using test::as_float_picture;
using test::noise_picture;
using test::same_bytes;

constexpr double kInfiniteAngle = std::numeric_limits<double>::infinity();

Tensor moved_image(const KernelRef& kernel, const Tensor& image) {
  const std::vector<KernelRef> chain = {kernel};
  auto moved = run_kernels(chain, image);
  EXPECT_TRUE(moved) << moved.error();
  return moved ? *moved : Tensor();
}

// 1 to 30, row by row, as torchvision's functions of the same names and arguments move them.
Tensor rising_picture() {
  std::vector<uint8_t> values(30);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i + 1);
  return Tensor::from(values, {5, 6, 1});
}

struct TorchvisionRow {
  KernelRef kernel;
  int within;
  std::vector<int> values;
};

const Corners kRisingCorners = {XY{0, 0}, XY{5, 0}, XY{5, 4}, XY{0, 4}};

TEST(GeometryKernels, MovePixelsAsTorchvision) {
  const std::vector<TorchvisionRow> all = {
      {affine({.angle = 20}), 0, {0,  7,  2,  3,  4,  0,  13, 14, 9,  10, 11, 6,  19, 20, 15,
                                  16, 11, 12, 25, 20, 21, 22, 17, 18, 0,  27, 28, 29, 24, 0}},
      {affine({.angle = -50, .translate = {1, 2}, .scale = 1.5, .shear = {15, -8}}),
       0,
       {0, 0, 0, 5, 5, 12, 0, 0, 4, 4, 11, 11, 0, 3, 3, 10, 11, 17, 2, 3, 9, 10, 16, 17, 2, 8, 9, 15, 16, 22}},
      {affine({.shear = 30, .fill = {99}, .center = XY{0, 0}}), 0, {1,  2,  3,  4,  5,  6,  8,  9,  10, 11,
                                                                    12, 99, 14, 15, 16, 17, 18, 99, 21, 22,
                                                                    23, 24, 99, 99, 28, 29, 30, 99, 99, 99}},
      {affine({.angle = 20, .scale = 0.8, .interpolation = Interpolation::bilinear}),
       1,
       {0, 2, 2, 1, 0, 0, 2, 10, 9, 7, 6, 4, 11, 18, 16, 15, 13, 7, 19, 25, 24, 22, 21, 3, 0, 0, 12, 25, 25, 0}},
      {rotate(35), 0, {0,  3,  4,  11, 12, 0,  2,  3,  10, 10, 17, 24, 7,  8,  15,
                       16, 23, 24, 7,  14, 21, 21, 28, 29, 0,  19, 20, 27, 28, 0}},
      {rotate(35, {.expand = true, .fill = {50}}),
       0,
       {50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 6,  6,  50, 50, 50, 50, 3,  4,  11, 12, 50, 50,
        50, 2,  3,  10, 10, 17, 24, 50, 1,  7,  8,  15, 16, 23, 24, 30, 50, 7,  14, 21, 21, 28, 29, 50,
        50, 50, 19, 20, 27, 28, 50, 50, 50, 50, 25, 25, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50}},
      {rotate(-15, {.interpolation = Interpolation::bilinear, .center = XY{1, 2}}),
       1,
       {1, 1, 2, 1, 1, 0, 7, 7, 7, 6, 5, 5, 14, 13, 13, 12, 11, 11, 20, 19, 19, 18, 18, 13, 25, 25, 25, 24, 24, 11}},
      {perspective(kRisingCorners, {XY{1, 0.3}, XY{4.9, 0.6}, XY{4.2, 4}, XY{0, 3.1}}),
       0,
       {0, 1, 3, 4, 0, 0, 0, 8, 9, 10, 11, 12, 19, 14, 15, 16, 17, 18, 25, 27, 22, 23, 24, 0, 0, 0, 28, 29, 30, 0}},
      {perspective({XY{1, 1}, XY{4, 0}, XY{5, 3}, XY{0, 4}}, kRisingCorners,
                   {.interpolation = Interpolation::bilinear}),
       1,
       {6, 5, 5, 4, 4, 3, 9, 8, 8, 7, 7, 6, 13, 13, 12, 12, 11, 10, 18, 18, 18, 17, 17, 16, 17, 25, 25, 25, 25, 13}},
  };
  for (const TorchvisionRow& one : all) {
    const Tensor moved = moved_image(one.kernel, rising_picture());
    ASSERT_EQ(static_cast<size_t>(moved.size()), one.values.size()) << one.kernel->facts().title;
    for (size_t i = 0; i < one.values.size(); ++i) {
      EXPECT_NEAR(moved.as<uint8_t>()[i], one.values[i], one.within) << one.kernel->facts().title << " at " << i;
    }
  }
}

TEST(GeometryKernels, WithoutOptionsGiveTheImage) {
  const Tensor image = noise_picture(7, 5, 4);
  for (const KernelRef& kernel : {affine({}), rotate(0), rotate(360), perspective(kRisingCorners, kRisingCorners)}) {
    EXPECT_TRUE(same_bytes(moved_image(kernel, image), image));
    EXPECT_TRUE(same_bytes(moved_image(kernel, as_float_picture(image)), as_float_picture(image)));
  }
}

TEST(GeometryKernels, TakeImagesOfOnePixel) {
  const Tensor pixel = noise_picture(1, 1, 3);
  EXPECT_TRUE(same_bytes(moved_image(rotate(33), pixel), pixel));
  EXPECT_TRUE(same_bytes(moved_image(affine({.angle = 10, .scale = 0.5}), pixel), pixel));
  EXPECT_EQ(moved_image(rotate(45, {.expand = true}), pixel).shape(), (Shape{3, 3, 3}));
}

TEST(GeometryKernels, TakeHugeParameters) {
  const Tensor image = noise_picture(16, 16, 3);
  for (const auto interpolation : {Interpolation::nearest, Interpolation::bilinear}) {
    for (const double sign : {-1.0, 1.0}) {
      for (const double scale : {kMinScale, kMaxScale}) {
        const auto kernel = affine({.angle = sign * kMaxAngle,
                                    .translate = {sign * kMaxOffset, 0},
                                    .scale = scale,
                                    .shear = {sign * kMaxShear, -sign * kMaxShear},
                                    .interpolation = interpolation,
                                    .center = XY{-sign * kMaxOffset, kMaxOffset}});
        EXPECT_EQ(moved_image(kernel, image).shape(), image.shape());
        EXPECT_EQ(moved_image(kernel, as_float_picture(image)).shape(), image.shape());
      }
    }
    const Corners far = {XY{-kMaxOffset, -kMaxOffset}, XY{kMaxOffset, 0}, XY{1, 1}, XY{0, kMaxOffset}};
    for (const auto& kernel : {perspective(kRisingCorners, far, {.interpolation = interpolation}),
                               perspective(far, kRisingCorners, {.interpolation = interpolation})}) {
      EXPECT_EQ(moved_image(kernel, image).shape(), image.shape());
    }
  }
}

TEST(GeometryKernels, SayTheirOptions) {
  EXPECT_EQ(affine({})->facts().title, "affine");
  EXPECT_EQ(affine({.angle = 10, .translate = {1, 2}, .scale = 1.5, .shear = 5, .center = XY{0, 0}})->facts().title,
            "affine(angle=10, translate=[1,2], scale=1.5, shear=[5,0], center=[0,0])");
  EXPECT_EQ(rotate(45, {.expand = true, .fill = {1, 2, 3}})->facts().title,
            "rotate(angle=45, expand=true, fill=[1,2,3])");
  EXPECT_EQ(perspective(kRisingCorners, kRisingCorners)->facts().title,
            "perspective(startpoints=[0,0,5,0,5,4,0,4], endpoints=[0,0,5,0,5,4,0,4])");
}

TEST(GeometryKernels, KnowTheSizeOfWhatTheyExpand) {
  const Spec known = {{"image", DType::u8, {30, 50, 3}}}, unknown = {{"image", DType::u8, {kUnknown, 50, 3}}};
  EXPECT_EQ(rotate(90, {.expand = true})->facts().result(known)[0].shape, (Shape{50, 30, 3}));
  EXPECT_EQ(rotate(90, {.expand = true})->facts().result(unknown)[0].shape, (Shape{kUnknown, kUnknown, 3}));
  EXPECT_EQ(rotate(90)->facts().result(known)[0].shape, known[0].shape);
  EXPECT_EQ(moved_image(rotate(20, {.expand = true}), noise_picture(30, 50, 3)).shape(),
            rotate(20, {.expand = true})->facts().result(known)[0].shape);
}

TEST(GeometryKernels, RefuseOptionsOutOfRange) {
  EXPECT_THROW(affine({.angle = kInfiniteAngle}), Exception);
  EXPECT_THROW(affine({.scale = -1}), Exception);
  EXPECT_THROW(affine({.shear = 90}), Exception);
  EXPECT_THROW(affine({.fill = {}}), Exception);
  EXPECT_THROW(affine({.min_area = -1}), Exception);
  EXPECT_THROW(rotate(kInfiniteAngle), Exception);
  EXPECT_THROW(rotate(10, {.expand = true, .center = XY{1, 1}}), Exception);
  EXPECT_THROW(perspective(kRisingCorners, {}), Exception);
}

// A square of pixels in a black image follows the point in its middle, and stays within its box.
TEST(GeometryKernels, MovePointsAndBoxesWithTheirPixels) {
  const std::vector<KernelRef> kernels = {
      affine({.angle = 25, .translate = {3, -4}, .scale = 1.4, .shear = {10, 5}}), rotate(-70),
      rotate(200, {.expand = true}),
      perspective({XY{0, 0}, XY{39, 0}, XY{39, 29}, XY{0, 29}}, {XY{3, 2}, XY{36, 5}, XY{39, 27}, XY{1, 29}})};
  for (const KernelRef& kernel : kernels) {
    Tensor image = Tensor::empty(DType::u8, {30, 40, 1});
    for (uint8_t& value : image.mutable_as<uint8_t>()) value = 0;
    for (size_t y = 12; y < 15; ++y) {
      for (size_t x = 20; x < 23; ++x) image.mutable_as<uint8_t>()[y * 40 + x] = 100;
    }
    const std::vector<KernelRef> chain = {kernel};
    const auto moved = run_kernels(chain,
                                   {image, Tensor::from(std::vector<float>{20, 12, 23, 15}, {1, 4}),
                                    Tensor::from(std::vector<float>{21.5F, 13.5F}, {1, 2})},
                                   {.roles = {FieldRole::image, FieldRole::boxes, FieldRole::points}});
    ASSERT_TRUE(moved);
    const Tensor& result = (*moved)[0];
    const auto box = (*moved)[1].as<float>();
    const auto at = (*moved)[2].as<float>();
    const auto value = [&](int64_t y, int64_t x) {
      return result.as<uint8_t>()[static_cast<size_t>(y * result.dim(1) + x)];
    };
    EXPECT_EQ(value(static_cast<int64_t>(at[1]), static_cast<int64_t>(at[0])), 100) << kernel->facts().title;
    ASSERT_EQ(box.size(), 4U);
    for (int64_t y = 0; y < result.dim(0); ++y) {
      for (int64_t x = 0; x < result.dim(1); ++x) {
        if (value(y, x) == 0) continue;
        EXPECT_TRUE(static_cast<float>(x) + 0.5F >= box[0] - 1e-3F && static_cast<float>(x) + 0.5F <= box[2] + 1e-3F &&
                    static_cast<float>(y) + 0.5F >= box[1] - 1e-3F && static_cast<float>(y) + 0.5F <= box[3] + 1e-3F);
      }
    }
  }
}

}  // namespace
}  // namespace headpond

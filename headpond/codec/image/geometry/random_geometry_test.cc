// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>

#include "headpond/codec/image/geometry/geometry_kernels.h"
#include "headpond/codec/image/geometry/geometry_test_internal.h"

namespace headpond {
namespace {

using test::first_channel;
using test::noise_picture;
using test::same_bytes;

std::vector<KernelRef> random_kernels() {
  return {random_affine({.degrees = 30, .translate = XY{0.2, 0.1}, .scale = {{0.7, 1.3}}, .shear = {{-10, 10, -5, 5}}}),
          random_rotation(90), random_perspective({.p = 0.9})};
}

Tensor drawn_image(const KernelRef& kernel, const Tensor& image, const KernelRun& run) {
  const std::vector<KernelRef> chain = {kernel};
  auto moved = run_kernels(chain, image, run);
  EXPECT_TRUE(moved) << moved.error();
  return moved ? *moved : Tensor();
}

TEST(RandomGeometry, DependsOnSeedEpochAndSampleAlone) {
  const Tensor image = noise_picture(24, 20, 3);
  for (const KernelRef& kernel : random_kernels()) {
    const KernelRun run = {.seed = 5, .epoch = 1, .key = 9};
    const Tensor first = drawn_image(kernel, image, run);
    EXPECT_TRUE(same_bytes(drawn_image(kernel, image, run), first));
    // The controls: keys without the seed, the epoch or the sample.
    int equal = 0;
    for (uint64_t other = 10; other < 20; ++other) {
      equal += same_bytes(drawn_image(kernel, image, {.seed = other, .epoch = 1, .key = 9}), first) ? 1 : 0;
      equal += same_bytes(drawn_image(kernel, image, {.seed = 5, .epoch = other, .key = 9}), first) ? 1 : 0;
      equal += same_bytes(drawn_image(kernel, image, {.seed = 5, .epoch = 1, .key = other}), first) ? 1 : 0;
    }
    EXPECT_LE(equal, 1) << kernel->facts().title;
  }
}

TEST(RandomGeometry, MovesMasksAndImagesByOneDraw) {
  for (const KernelRef& kernel : random_kernels()) {
    for (const auto& [height, width] : {std::pair(1, 1), std::pair(1, 6), std::pair(2, 2), std::pair(24, 33)}) {
      const Tensor image = noise_picture(height, width, 3);
      for (uint64_t key = 0; key < 10; ++key) {
        const std::vector<KernelRef> chain = {kernel};
        const auto moved = run_kernels(chain, {image, first_channel(image)},
                                       {.key = key, .roles = {FieldRole::image, FieldRole::mask}});
        ASSERT_TRUE(moved);
        EXPECT_TRUE(same_bytes(first_channel((*moved)[0]), (*moved)[1])) << kernel->facts().title;
      }
    }
  }
}

TEST(RandomGeometry, KeepsPointsOnTheirPixels) {
  for (const KernelRef& kernel : random_kernels()) {
    for (uint64_t key = 0; key < 20; ++key) {
      Tensor image = Tensor::empty(DType::u8, {30, 40, 1});
      for (uint8_t& value : image.mutable_as<uint8_t>()) value = 0;
      image.mutable_as<uint8_t>()[15 * 40 + 19] = 1;
      const std::vector<KernelRef> chain = {kernel};
      const auto moved = run_kernels(chain, {image, Tensor::from(std::vector<float>{19.5F, 15.5F}, {1, 2})},
                                     {.key = key, .roles = {FieldRole::image, FieldRole::points}});
      ASSERT_TRUE(moved);
      // A pixel that shrinks may fall between two: then it is gone everywhere.
      const auto result = (*moved)[0].as<uint8_t>();
      if (std::ranges::count(result, 1) == 0) continue;
      const auto at = (*moved)[1].as<float>();
      bool is_near = false;
      for (size_t i = 0; i < result.size(); ++i) {
        const float x = static_cast<float>(i % 40) + 0.5F, y = static_cast<float>(i / 40) + 0.5F;
        is_near = is_near || (result[i] == 1 && std::abs(x - at[0]) <= 1.01F && std::abs(y - at[1]) <= 1.01F);
      }
      EXPECT_TRUE(is_near) << kernel->facts().title << " of sample " << key;
    }
  }
}

TEST(RandomGeometry, DrawsFromTheWholeRange) {
  const KernelRef kernel = random_affine({.translate = XY{0.25, 0}});
  std::set<float> places;
  for (uint64_t key = 0; key < 200; ++key) {
    const std::vector<KernelRef> chain = {kernel};
    const auto moved = run_kernels(chain, {noise_picture(4, 8, 1), Tensor::from(std::vector<float>{0, 0}, {1, 2})},
                                   {.key = key, .roles = {FieldRole::image, FieldRole::points}});
    places.insert((*moved)[1].as<float>()[0]);
  }
  EXPECT_THAT(places, testing::ElementsAre(-2, -1, 0, 1, 2));
}

TEST(RandomGeometry, MovesAsOftenAsPSays) {
  const Tensor image = noise_picture(16, 16, 1);
  int moved = 0;
  for (uint64_t key = 0; key < 400; ++key) {
    moved += same_bytes(drawn_image(random_perspective({.p = 0.25}), image, {.key = key}), image) ? 0 : 1;
  }
  EXPECT_NEAR(moved, 100, 40);
  EXPECT_TRUE(same_bytes(drawn_image(random_perspective({.p = 0}), image, {}), image));
}

TEST(RandomGeometry, LeavesAnImageWithoutFourCornersAsItIs) {
  for (const auto& [height, width] : {std::pair(1, 1), std::pair(1, 30), std::pair(30, 1), std::pair(2, 2)}) {
    const Tensor image = noise_picture(height, width, 3);
    EXPECT_TRUE(same_bytes(drawn_image(random_perspective({.p = 1}), image, {}), image));
    for (uint64_t key = 0; key < 30; ++key) {
      EXPECT_EQ(drawn_image(random_perspective({.distortion_scale = 1, .p = 1}), image, {.key = key}).shape(),
                image.shape());
    }
  }
}

TEST(RandomGeometry, ExpandsWithTheAngle) {
  const KernelRef kernel = random_rotation({45, 45}, {.expand = true});
  EXPECT_EQ(kernel->facts().result({{"image", DType::u8, {10, 10, 3}}})[0].shape, (Shape{kUnknown, kUnknown, 3}));
  EXPECT_EQ(drawn_image(kernel, noise_picture(10, 10, 3), {}).shape(), (Shape{16, 16, 3}));
}

TEST(RandomGeometry, SaysItsOptions) {
  EXPECT_EQ(random_affine({.degrees = 10})->facts().title, "random_affine(degrees=10)");
  EXPECT_EQ(
      random_affine({.degrees = {-5, 10}, .translate = XY{0.1, 0}, .scale = {{0.5, 2}}, .shear = 3})->facts().title,
      "random_affine(degrees=[-5,10], translate=[0.1,0], scale=[0.5,2], shear=3)");
  EXPECT_EQ(random_affine({.shear = {{-1, 2, -3, 4}}})->facts().title, "random_affine(shear=[-1,2,-3,4])");
  EXPECT_EQ(random_rotation(30, {.expand = true})->facts().title, "random_rotation(degrees=30, expand=true)");
  EXPECT_EQ(random_perspective()->facts().title, "random_perspective");
  EXPECT_EQ(random_perspective({.distortion_scale = 0.2, .p = 1})->facts().title,
            "random_perspective(distortion_scale=0.2, p=1)");
  EXPECT_EQ(random_perspective()->facts().draws, "random_perspective");
}

TEST(RandomGeometry, RefusesOptionsOutOfRange) {
  EXPECT_THROW(random_affine({.degrees = -1}), Exception);
  EXPECT_THROW(random_affine({.degrees = {10, 5}}), Exception);
  EXPECT_THROW(random_affine({.degrees = {0, kMaxAngle * 2}}), Exception);
  EXPECT_THROW(random_affine({.translate = XY{0, 1.1}}), Exception);
  EXPECT_THROW(random_affine({.scale = {{0, 1}}}), Exception);
  EXPECT_THROW(random_affine({.scale = {{2, 1}}}), Exception);
  EXPECT_THROW(random_affine({.shear = 90}), Exception);
  EXPECT_THROW(random_affine({.shear = {{0, 0, -95, 0}}}), Exception);
  EXPECT_THROW(random_affine({.center = XY{0, kMaxOffset * 2}}), Exception);
  EXPECT_THROW(random_rotation(-1), Exception);
  EXPECT_THROW(random_rotation(10, {.expand = true, .center = XY{1, 1}}), Exception);
  EXPECT_THROW(random_perspective({.distortion_scale = 1.5}), Exception);
  EXPECT_THROW(random_perspective({.p = -0.1}), Exception);
}

}  // namespace
}  // namespace headpond

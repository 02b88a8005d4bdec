// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/distance_map_kernel.h"

#include <gmock/gmock.h>

#include <cmath>

#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/image_test_internal.h"

namespace headpond {
namespace {

using image_internal::refusal;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<FieldRole> kImageAndPoints = {FieldRole::image, FieldRole::points};

Tensor click_rows(const std::vector<float>& xy) { return Tensor::from(xy, {static_cast<int64_t>(xy.size() / 2), 2}); }

Result<std::vector<Tensor>> with_clicks(const std::vector<KernelRef>& chain, const Tensor& image,
                                        const std::vector<float>& xy) {
  return run_kernels(chain, {image, click_rows(xy)}, {.roles = kImageAndPoints});
}

TEST(DistanceMapKernel, AddsAChannelForEachGroup) {
  const Tensor image = Tensor::from(std::vector<float>{1, 2, 3, 4}, {1, 4, 1});
  const auto made = with_clicks({distance_map({.limit = 2, .groups = 2})}, image, {0.5F, 0.5F, 3.9F, 0});
  ASSERT_TRUE(made) << made.error();
  EXPECT_EQ(made->at(0).shape(), (Shape{1, 4, 3}));
  EXPECT_THAT(made->at(0).as<float>(), ElementsAre(1, 0, 2, 2, 1, 2, 3, 2, 1, 4, 2, 0));
  const Tensor planar = Tensor::from(std::vector<float>{1, 2, 3, 4}, {1, 1, 4});
  const auto other = with_clicks({distance_map({.limit = 2, .layout = ImageLayout::chw})}, planar, {0.5F, 0.5F});
  EXPECT_THAT(other->at(0).as<float>(), ElementsAre(1, 2, 3, 4, 0, 1, 2, 2));
}

TEST(DistanceMapKernel, HasTheBytesOfTheFunction) {
  const Tensor image = image_internal::smooth_image(9, 11);
  const auto made = with_clicks({distance_map({.limit = 7})}, image, {2, 3, 40, -5, 10.5F, 8.5F});
  std::vector<uint8_t> expected(9 * 11 * 4);
  for (size_t i = 0; i < 99; ++i) std::copy_n(&image.as<uint8_t>()[3 * i], 3, &expected[4 * i]);
  const std::vector<ImagePoint> points = {{3, 2}, {-5, 40}, {8, 10}};
  ASSERT_TRUE(
      write_distance_map(points, 7, {std::as_writable_bytes(std::span(expected)), 9, 11, 4, 3, false, DType::u8}));
  EXPECT_TRUE(image_internal::same_tensor(made->at(0), Tensor::from(expected, {9, 11, 4})));
}

TEST(DistanceMapKernel, UsesPointsWhereAFlipAndACropMovedThem) {
  const Tensor image = image_internal::row_image({1, 2, 3, 4});
  const auto made =
      with_clicks({random_horizontal_flip(1), crop(0, 1, {1, 3}), distance_map({.limit = 255})}, image, {1.5F, 0.5F});
  EXPECT_THAT(made->at(0).as<uint8_t>(), ElementsAre(3, 1, 2, 0, 1, 1));
  EXPECT_THAT(made->at(1).as<float>(), ElementsAre(1.5F, 0.5F));
}

TEST(DistanceMapKernel, LeavesOutPointsThatAreNowhere) {
  const Tensor image = image_internal::row_image({1, 2});
  const auto made = with_clicks({distance_map()}, image, {NAN, 0, 0, -INFINITY, 1e30F, 0});
  EXPECT_THAT(made->at(0).as<uint8_t>(), ElementsAre(1, 255, 2, 255));
  EXPECT_THAT(with_clicks({distance_map()}, image, {})->at(0).as<uint8_t>(), ElementsAre(1, 255, 2, 255));
}

TEST(DistanceMapKernel, SaysWhatItGivesAndRefusesTheRest) {
  const FieldSpec points = {"points", f32, {kUnknown, 2}};
  const auto result = distance_map({.limit = 9, .groups = 2})->facts().result;
  EXPECT_EQ(result({{"image", u8, {kUnknown, 5, 3}}, points})[0].shape, (Shape{kUnknown, 5, 5}));
  EXPECT_EQ(distance_map({.limit = 9, .groups = 2})->facts().title, "distance_map(limit=9, groups=2)");
  EXPECT_THAT(refusal([&] { result({{"image", u8, {4, 5, 3}}}); }), HasSubstr("no field is the points"));
  EXPECT_THAT(refusal([&] { result({{"image", u16, {4, 5, 3}}, points}); }), HasSubstr("uint16[4,5,3]"));
  EXPECT_THAT(refusal([&] { result({{"image", u8, {4, 5, 3}}, {"points", f32, {3}}}); }), HasSubstr("float32[3]"));
  EXPECT_THAT(refusal([] { distance_map({.limit = 0}); }), HasSubstr("limit 0"));
  EXPECT_THAT(refusal([] { distance_map({.groups = 17}); }), HasSubstr("groups 17"));
  const auto odd = with_clicks({distance_map({.groups = 2})}, image_internal::row_image({1}), {1, 2});
  EXPECT_THAT(odd.error().message(), HasSubstr("1 points are no 2 groups"));
}

}  // namespace
}  // namespace headpond

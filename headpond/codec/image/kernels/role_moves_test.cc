// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/image_test_internal.h"
#include "headpond/codec/image/kernels/normalize_kernel.h"
#include "headpond/codec/image/kernels/resize_kernel.h"

namespace headpond::image_internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<std::vector<Tensor>> moved(const KernelRef& kernel, const Tensor& image, FieldRole role, const Tensor& field) {
  const std::vector<KernelRef> chain = {kernel};
  return run_kernels(chain, {image, field}, {.roles = {FieldRole::image, role}});
}

const Tensor kBlank = Tensor::from(std::vector<uint8_t>(4 * 6), {4, 6, 1});

Tensor moved_boxes(const KernelRef& kernel, std::vector<float> boxes) {
  const auto rows = static_cast<int64_t>(boxes.size() / 4);
  return moved(kernel, kBlank, FieldRole::boxes, Tensor::from(boxes, {rows, 4}))->at(1);
}

TEST(RoleMoves, BoxesAreClippedScaledAndMirrored) {
  EXPECT_THAT(moved_boxes(crop(1, 2, {2, 3}), {1, 0, 4, 2}).as<float>(), ElementsAre(0, 0, 2, 1));
  EXPECT_THAT(moved_boxes(resize({8, 3}), {1, 1, 4, 2}).as<float>(), ElementsAre(0.5F, 2, 2, 4));
  EXPECT_THAT(moved_boxes(random_horizontal_flip(1), {1, 0, 4, 2}).as<float>(), ElementsAre(2, 0, 5, 2));
  EXPECT_THAT(moved_boxes(random_vertical_flip(1), {1, 0, 4, 2}).as<float>(), ElementsAre(1, 2, 4, 4));
  EXPECT_THAT(moved_boxes(pad({2, 3, 0, 0}), {1, 0, 4, 2}).as<float>(), ElementsAre(3, 3, 6, 5));
  EXPECT_THAT(moved_boxes(normalize({.mean = {0}, .std = {1}}), {1, 0, 4, 2}).as<float>(), ElementsAre(1, 0, 4, 2));
}

TEST(RoleMoves, SmallBoxesAreDroppedWithTheirLabels) {
  const std::vector<KernelRef> chain = {crop(0, 0, {2, 2}, {.min_area = 0.5})};
  const Tensor boxes = Tensor::from(std::vector<float>{0, 0, 1, 0.5F, 0, 0, 1, 0.25F, 3, 0, 6, 4}, {3, 4});
  const Tensor labels = Tensor::from(std::vector<int64_t>{7, 8, 9}, {3});
  const Tensor words = Tensor::from(std::vector<std::string>{"a", "bc", ""}, {3});
  for (const Tensor& names : {labels, words}) {
    const auto made =
        run_kernels(chain, {kBlank, names, boxes}, {.roles = {FieldRole::image, FieldRole::labels, FieldRole::boxes}});
    ASSERT_TRUE(made) << made.error();
    EXPECT_EQ(made->at(2).shape(), (Shape{1, 4}));
    ASSERT_EQ(made->at(1).shape(), (Shape{1}));
    if (names.dtype() == bytes) {
      EXPECT_EQ(made->at(1).bytes_at(0), "a");
    }
    if (names.dtype() == i64) {
      EXPECT_EQ(made->at(1).as<int64_t>()[0], 7);
    }
  }
}

TEST(RoleMoves, BoxesOfAnotherFormatAreRefused) {
  for (const KernelRef& kernel : {crop(0, 0, {4, 6}), random_horizontal_flip(1), resize({8, 3}), pad({1})}) {
    const Tensor boxes = Tensor::from(std::vector<float>{0, 0, 1, 1, 3, 2, 2, 1}, {2, 4});  // The last has its size.
    EXPECT_THAT(moved(kernel, kBlank, FieldRole::boxes, boxes).error().message(), HasSubstr("row 1: [3, 2, 2, 1]"));
  }
}

TEST(RoleMoves, PointsMayLeaveTheImage) {
  const Tensor points = Tensor::from(std::vector<float>{0.5F, 0.5F, 5.5F, 3.5F}, {2, 2});
  const auto made = moved(crop(1, 2, {2, 3}), kBlank, FieldRole::points, points);
  EXPECT_THAT(made->at(1).as<float>(), ElementsAre(-1.5F, -0.5F, 3.5F, 2.5F));
}

TEST(RoleMoves, MasksOfAnyWholeNumbersMoveAsTheImage) {
  Random random(8);
  for (int i = 0; i < 100; ++i) {
    const int64_t height = 1 + below(random, 9), width = 1 + below(random, 9);
    const Tensor image = random_image(random, u8, height, width, 1);
    std::vector<int64_t> values;
    for (const uint8_t value : image.as<uint8_t>()) values.push_back(value);
    const ResizeKernelOptions nearest = {.filter = ResizeFilter::nearest};
    const std::vector<KernelRef> chain = {pad({2, 1}, {.mode = static_cast<PadMode>(below(random, 4))}),
                                          resize({1 + below(random, 12), 1 + below(random, 12)}, nearest),
                                          random_horizontal_flip(), random_vertical_flip()};
    const auto made = run_kernels(chain, {image, Tensor::from(values, {height, width})},
                                  {.key = static_cast<uint64_t>(i), .roles = {FieldRole::image, FieldRole::mask}});
    ASSERT_TRUE(made) << made.error();
    for (size_t k = 0; k < made->at(0).as<uint8_t>().size(); ++k) {
      ASSERT_EQ(made->at(1).as<int64_t>()[k], made->at(0).as<uint8_t>()[k]);
    }
  }
}

TEST(RoleMoves, AMaskIsPaddedByItsOwnFill) {
  const Tensor classes = Tensor::from(std::vector<int16_t>(4 * 6, 3), {4, 6});
  const auto row = [](const std::vector<Tensor>& made) {
    const auto values = made.at(1).as<int16_t>();
    return std::vector<int16_t>(values.begin(), values.begin() + made.at(1).dim(1));
  };
  const auto padded = moved(pad({1, 0, 2, 0}, {.fill = {7}, .mask_fill = -1}), kBlank, FieldRole::mask, classes);
  EXPECT_THAT(row(*padded), ElementsAre(-1, 3, 3, 3, 3, 3, 3, -1, -1));
  EXPECT_EQ(padded->at(0).as<uint8_t>()[0], 7);
  const RandomCropOptions both_sides = {.pad_if_needed = true, .mask_fill = 255};
  const auto cropped = moved(random_crop({4, 8}, both_sides), kBlank, FieldRole::mask, classes);
  EXPECT_THAT(row(*cropped), testing::Contains(255));
  const auto centered = moved(center_crop({4, 8}, {.mask_fill = 255}), kBlank, FieldRole::mask, classes);
  EXPECT_THAT(row(*centered), ElementsAre(255, 3, 3, 3, 3, 3, 3, 255));
  const auto outside = moved(crop(0, -1, {4, 3}, {.mask_fill = -1}), kBlank, FieldRole::mask, classes);
  EXPECT_THAT(row(*outside), ElementsAre(-1, 3, 3));
  const std::vector<KernelRef> chain = {pad({1, 0, 2, 0}, {.mask_fill = 255}), random_horizontal_flip(1)};
  const auto flipped = run_kernels(chain, {kBlank, classes}, {.roles = {FieldRole::image, FieldRole::mask}});
  EXPECT_THAT(row(*flipped), ElementsAre(255, 255, 3, 3, 3, 3, 3, 3, 255));
  const PadOptions edge = {.mode = PadMode::edge, .mask_fill = 1e9};
  EXPECT_THAT(row(*moved(pad({1, 0}, edge), kBlank, FieldRole::mask, classes)), testing::Each(3)) << "not used";
}

TEST(RoleMoves, RefuseFieldsThatDoNotFit) {
  const auto problem = [](FieldRole role, const Tensor& field) {
    return moved(crop(0, 0, 2), kBlank, role, field).error().message();
  };
  EXPECT_THAT(problem(FieldRole::mask, Tensor::empty(u8, {4, 5})), HasSubstr("mask uint8[4,5]: the image's [4,6]"));
  EXPECT_THAT(problem(FieldRole::boxes, Tensor::empty(f64, {1, 4})), HasSubstr("float32 [n,4] was expected"));
  EXPECT_THAT(problem(FieldRole::points, Tensor::empty(f32, {1, 4})), HasSubstr("float32 [n,2] was expected"));
}

}  // namespace
}  // namespace headpond::image_internal

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/image_test_internal.h"
#include "headpond/codec/image/kernels/normalize_kernel.h"
#include "headpond/codec/image/kernels/resize_kernel.h"

namespace headpond::image_internal {
namespace {

using testing::HasSubstr;

const Spec kImage = {{"image", u8, {kUnknown, kUnknown, 3}}};

Shape shape_after(const KernelRef& kernel, const Spec& fields = kImage, size_t i = 0) {
  return kernel->facts().result(fields)[i].shape;
}

TEST(FieldsAfter, AreExactWhereOptionsSaySo) {
  const Spec known = {{"image", f32, {30, 50, 1}}};
  EXPECT_EQ(shape_after(crop(0, 0, {2, 3})), (Shape{2, 3, 3}));
  EXPECT_EQ(shape_after(random_resized_crop(7)), (Shape{7, 7, 3}));
  EXPECT_EQ(shape_after(pad({1, 2, 3, 4})), (Shape{kUnknown, kUnknown, 3}));
  EXPECT_EQ(shape_after(pad({1, 2, 3, 4}), known), (Shape{36, 54, 1}));
  EXPECT_EQ(shape_after(resize({4, 5})), (Shape{4, 5, 3}));
  EXPECT_EQ(shape_after(resize(10)), (Shape{kUnknown, kUnknown, 3}));
  EXPECT_EQ(shape_after(resize(10), known), (Shape{10, 16, 1}));
  EXPECT_EQ(shape_after(random_vertical_flip(), known), (Shape{30, 50, 1}));
  EXPECT_EQ(shape_after(normalize()), (Shape{3, kUnknown, kUnknown}));
  EXPECT_EQ(normalize({.dtype = bf16})->facts().result(kImage)[0].dtype, bf16);
}

TEST(FieldsAfter, MovesMasksAndLosesBoxes) {
  const Spec fields = {kImage[0],
                       {"mask", i32, {kUnknown, kUnknown}},
                       {"boxes", f32, {5, 4}},
                       {"labels", i64, {5, 2}},
                       {"points", f32, {6, 2}}};
  const KernelRef cropped = crop(0, 0, {2, 3});
  EXPECT_EQ(shape_after(cropped, fields, 1), (Shape{2, 3}));
  EXPECT_EQ(shape_after(cropped, fields, 2), (Shape{kUnknown, 4}));
  EXPECT_EQ(shape_after(cropped, fields, 3), (Shape{kUnknown, 2}));
  EXPECT_EQ(shape_after(cropped, fields, 4), (Shape{6, 2}));
  EXPECT_EQ(shape_after(resize({2, 3}), fields, 2), (Shape{5, 4}));
  EXPECT_EQ(normalize()->facts().result(fields)[1].shape, (Shape{kUnknown, kUnknown}));
}

TEST(FieldsAfter, LabelsWithoutBoxesStayAsTheyAre) {
  const KernelRef cropped = crop(0, 0, {2, 3});
  EXPECT_EQ(shape_after(cropped, {kImage[0], {"labels", i64, {}}}, 1), (Shape{}));
  EXPECT_EQ(shape_after(cropped, {kImage[0], {"labels", i64, {5, 2}}}, 1), (Shape{5, 2}));
  const Spec with_boxes = {kImage[0], {"boxes", f32, {5, 4}}, {"labels", i64, {}}};
  EXPECT_THAT(refusal([&] { cropped->facts().result(with_boxes); }), HasSubstr("the labels can't be int64[]"));
  const Tensor image = Tensor::from(std::vector<uint8_t>(4 * 4 * 3), {4, 4, 3});
  const auto made = run_kernels(std::span(&cropped, 1), {image, Tensor::scalar(int64_t{7})},
                                {.roles = {FieldRole::image, FieldRole::labels}});
  ASSERT_TRUE(made) << made.error();
  EXPECT_EQ(made->at(1).item<int64_t>(), 7);
}

TEST(FieldsAfter, RefuseOtherFields) {
  const auto refuses = [](const KernelRef& kernel, const Spec& fields) {
    return refusal([&] { kernel->facts().result(fields); });
  };
  EXPECT_THAT(refuses(resize(4), {{"image", u16, {4, 4, 3}}}), HasSubstr("not uint16[4,4,3]"));
  EXPECT_THAT(refuses(resize(4), {{"image", u8, {4, 4}}}), HasSubstr("not uint8[4,4]"));
  EXPECT_THAT(refuses(resize(4), {{"image", u8, {3, 4, 40}}}), HasSubstr("not uint8[3,4,40]"));
  EXPECT_THAT(refuses(normalize(), {{"image", u8, {4, 4, 1}}}), HasSubstr("3 means for an image of 1 channels"));
  EXPECT_THAT(refuses(crop(0, 0, 4), {kImage[0], {"boxes", f32, {5, 3}}}), HasSubstr("the boxes can't be"));
  EXPECT_THAT(refuses(crop(0, 0, 4), {{"image", u8, {4, 4, 1}}, {"mask", u8, {4, 5}}}), HasSubstr("the mask can't be"));
  EXPECT_THAT(refuses(pad({1}, {.fill = {300}}), kImage), HasSubstr("fill is 300: no value of uint8"));
  EXPECT_THAT(refuses(random_crop(2, {.padding = {1}, .fill = {1, 2}}), kImage),
              HasSubstr("2 values fill an image of 3 channels"));
  const Spec with_mask = {{"image", u8, {4, 4, 3}}, {"mask", u8, {4, 4}}};
  EXPECT_THAT(refuses(pad({1}, {.mask_fill = -1}), with_mask), HasSubstr("mask_fill is -1: no value of uint8"));
}

}  // namespace
}  // namespace headpond::image_internal

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <limits>
#include <string_view>

#include "headpond/codec/image/geometry/geometry_kernels.h"
#include "headpond/codec/image/geometry/geometry_test_internal.h"
#include "headpond/codec/image/geometry/warp_fields_internal.h"

namespace headpond {
namespace {

using test::first_channel;
using test::noise_picture;
using test::same_bytes;
using testing::ElementsAre;
using testing::HasSubstr;
using warp_internal::check_options;
using warp_internal::moved_spec;
using warp_internal::same_size;
using warp_internal::unknown_size;

const std::vector<FieldRole> kAllRoles = {FieldRole::image, FieldRole::mask, FieldRole::boxes, FieldRole::labels,
                                          FieldRole::points};

std::vector<Tensor> moved_sample(const KernelRef& kernel, std::vector<Tensor> fields, std::vector<FieldRole> roles) {
  const std::vector<KernelRef> chain = {kernel};
  auto moved = run_kernels(chain, std::move(fields), {.roles = std::move(roles)});
  EXPECT_TRUE(moved) << moved.error();
  return moved ? *moved : std::vector<Tensor>();
}

std::string refused_sample(const KernelRef& kernel, std::vector<Tensor> fields, std::vector<FieldRole> roles) {
  const std::vector<KernelRef> chain = {kernel};
  auto moved = run_kernels(chain, std::move(fields), {.roles = std::move(roles)});
  return moved ? "" : moved.error().message();
}

TEST(WarpFields, MoveAllFieldsOfASampleTogether) {
  const Tensor image = noise_picture(6, 8, 3);
  const Tensor boxes = Tensor::from(std::vector<float>{0, 0, 2, 2, 6, 4, 8, 6}, {2, 4});
  const Tensor labels = Tensor::from(std::vector<std::string_view>{"cat", "dog"}, {2});
  const Tensor points = Tensor::from(std::vector<float>{0.5F, 0.5F}, {1, 2});
  const auto moved =
      moved_sample(affine({.translate = {3, 1}}), {image, first_channel(image), boxes, labels, points}, kAllRoles);
  ASSERT_EQ(moved.size(), 5U);
  EXPECT_TRUE(same_bytes(first_channel(moved[0]), moved[1]));
  EXPECT_THAT(moved[2].as<float>(), ElementsAre(3, 1, 5, 3));
  EXPECT_EQ(moved[3].shape(), (Shape{1}));
  EXPECT_EQ(moved[3].bytes_at(0), "cat");
  EXPECT_THAT(moved[4].as<float>(), ElementsAre(3.5F, 1.5F));
}

TEST(WarpFields, KeepMasksWholeWhereTheImageIsMixed) {
  const Tensor image = noise_picture(9, 9, 1);
  const Tensor mask = Tensor::from(std::vector<int32_t>(81, 7), {9, 9, 1});
  const auto moved = moved_sample(rotate(30, {.interpolation = Interpolation::bilinear, .mask_fill = -1}),
                                  {image, mask}, {FieldRole::image, FieldRole::mask});
  for (const int32_t value : moved[1].as<int32_t>()) EXPECT_TRUE(value == 7 || value == -1) << value;
  // The control: a mask that was taken for an image has other values.
  const auto mixed = moved_sample(rotate(30, {.interpolation = Interpolation::bilinear}), {image, image},
                                  {FieldRole::image, FieldRole::image});
  const auto nearest = moved_sample(rotate(30), {image, image}, {FieldRole::image, FieldRole::mask});
  EXPECT_FALSE(same_bytes(mixed[1], nearest[1]));
}

TEST(WarpFields, LeaveLabelsWithoutBoxesAlone) {
  const Tensor labels = Tensor::scalar(int64_t{4});
  const auto moved = moved_sample(rotate(30), {noise_picture(4, 4, 3), labels}, {FieldRole::image, FieldRole::labels});
  EXPECT_EQ(moved[1].item<int64_t>(), 4);
}

TEST(WarpFields, CutBoxesOfAnImageThatStays) {
  const Tensor boxes = Tensor::from(std::vector<float>{-3, -3, 2, 2, 4, 4, 9, 9}, {2, 4});
  const auto moved = moved_sample(affine({}), {noise_picture(4, 4, 3), boxes}, {FieldRole::image, FieldRole::boxes});
  EXPECT_THAT(moved[1].as<float>(), ElementsAre(0, 0, 2, 2));
}

TEST(WarpFields, RefuseSamplesThatDoNotFit) {
  const Tensor image = noise_picture(4, 4, 3);
  const auto turn = rotate(30);
  EXPECT_THAT(refused_sample(turn, {image, noise_picture(4, 5, 1)}, {FieldRole::image, FieldRole::mask}),
              HasSubstr("mask [4,5,1] beside an image [4,4,3]"));
  EXPECT_THAT(refused_sample(turn, {first_channel(image)}, {}), HasSubstr("not [4,4]"));
  const Tensor boxes = Tensor::from(std::vector<float>{0, 0, 2, 2}, {1, 4});
  const Tensor labels = Tensor::from(std::vector<int64_t>{1, 2}, {2});
  EXPECT_THAT(refused_sample(turn, {image, boxes, labels}, {FieldRole::image, FieldRole::boxes, FieldRole::labels}),
              HasSubstr("labels [2] for 1 boxes"));
  EXPECT_NE(refused_sample(turn, {image, labels}, {FieldRole::image, FieldRole::boxes}), "");
  EXPECT_NE(refused_sample(turn, {image, labels}, {FieldRole::image, FieldRole::points}), "");
}

TEST(WarpFields, RefuseImagesOfManyChannels) {
  for (const int64_t channels : {5, 400}) {
    const Tensor image = Tensor::from(std::vector<float>(static_cast<size_t>(4 * channels)), {2, 2, channels});
    EXPECT_THAT(refused_sample(affine({.translate = {1, 0}}), {image}, {FieldRole::image}),
                HasSubstr("1 to 4 channels"));
  }
  EXPECT_FALSE(check_warp(DType::f64, 5, {.fill = {1, 2, 3, 4, 5}}));
}

TEST(WarpFields, SayWhatTheyGive) {
  const Spec in = {{"image", DType::u8, {4, kUnknown, 3}},
                   {"mask", DType::i64, {4, kUnknown}},
                   {"boxes", DType::f32, {5, 4}},
                   {"labels", DType::bytes, {5, 2}},
                   {"points", DType::f32, {kUnknown, 2}}};
  const Spec same = moved_spec("turn", in, {}, same_size);
  EXPECT_EQ(same[0].shape, in[0].shape);
  EXPECT_EQ(same[1].shape, in[1].shape);
  EXPECT_EQ(same[2].shape, (Shape{kUnknown, 4}));
  EXPECT_EQ(same[3].shape, (Shape{kUnknown, 2}));
  EXPECT_EQ(same[4].shape, in[4].shape);
  EXPECT_EQ(moved_spec("turn", in, {}, unknown_size)[0].shape, (Shape{kUnknown, kUnknown, 3}));
  const Spec alone = {in[0], {"labels", DType::i64, {}}};
  EXPECT_EQ(moved_spec("turn", alone, {}, same_size)[1].shape, Shape());
}

std::string refused_spec(const Spec& in, const warp_internal::FieldOptions& options = {}) {
  try {
    moved_spec("turn", in, options, same_size);
    return "";
  } catch (const Exception& wrong) {
    return wrong.error().message();
  }
}

TEST(WarpFields, RefuseFieldsWhileAPipelineIsBuilt) {
  const FieldSpec image = {"image", DType::u8, {kUnknown, kUnknown, kUnknown}};
  EXPECT_EQ(refused_spec({image}, {.image = {.fill = {1, 2, 3}}}), "");
  EXPECT_THAT(refused_spec({{"image", DType::u16, {4, 4, 3}}}), HasSubstr("turn: takes uint8 or float32"));
  EXPECT_THAT(refused_spec({{"image", DType::u8, {4, 4}}}), HasSubstr("not uint8[4,4]"));
  EXPECT_THAT(refused_spec({{"image", DType::u8, {4, 4, 5}}}), HasSubstr("not uint8[4,4,5]"));
  EXPECT_THAT(refused_spec({{"image", DType::u8, {4, 4, 3}}}, {.image = {.fill = {1, 2}}}), HasSubstr("2 values"));
  EXPECT_THAT(refused_spec({image}, {.image = {.fill = {-1}}}), HasSubstr("no value of uint8"));
  EXPECT_THAT(refused_spec({image, {"mask", DType::bytes, {4, 4}}}), HasSubstr("takes masks"));
  EXPECT_THAT(refused_spec({image, {"mask", DType::u8, {4, 4, 3}}}), HasSubstr("takes masks"));
  EXPECT_THAT(refused_spec({image, {"mask", DType::u8, {4, 4}}}, {.mask_fill = 256}),
              HasSubstr("mask_fill is 256: no value of uint8"));
  EXPECT_THAT(refused_spec({image, {"boxes", DType::f64, {4, 4}}}), HasSubstr("boxes as float32[?,4]"));
  EXPECT_THAT(refused_spec({image, {"points", DType::f32, {4, 3}}}), HasSubstr("points as float32[?,2]"));
  EXPECT_THAT(refused_spec({image, {"boxes", DType::f32, {4, 4}}, {"labels", DType::i64, {}}}), HasSubstr("labels"));
}

std::string refused_options(const warp_internal::FieldOptions& options) {
  try {
    check_options("turn", options);
    return "";
  } catch (const Exception& wrong) {
    return wrong.error().message();
  }
}

TEST(WarpFields, RefuseOptionsOutOfRange) {
  EXPECT_NO_THROW(check_options("turn", {.image = {.fill = {0, 0, 0, 1}}, .min_area = 0}));
  EXPECT_THROW(check_options("turn", {.image = {.fill = {}}}), Exception);
  EXPECT_THROW(check_options("turn", {.image = {.fill = {1, 2, 3, 4, 5}}}), Exception);
  EXPECT_THROW(check_options("turn", {.image = {.fill = {std::numeric_limits<double>::infinity()}}}), Exception);
  EXPECT_THAT(refused_options({.mask_fill = std::numeric_limits<double>::quiet_NaN()}), HasSubstr("mask_fill"));
  EXPECT_THROW(check_options("turn", {.min_area = -1}), Exception);
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/geometry/move_positions.h"

#include <gmock/gmock.h>

#include <limits>
#include <string_view>

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;

constexpr float kNoPosition = std::numeric_limits<float>::quiet_NaN();

Tensor boxes_of(std::vector<float> values) {
  const auto count = static_cast<int64_t>(values.size() / 4);
  return Tensor::from(values, {count, 4});
}

TEST(MovePoints, PutsThemWhereTheirPixelGoes) {
  const Tensor points = Tensor::from(std::vector<float>{0.5F, 0.5F, -3, 20}, {2, 2});
  const auto moved = move_points(points, rotation_map(4, 4, 90));
  ASSERT_TRUE(moved);
  EXPECT_THAT(moved->as<float>(), ElementsAre(0.5F, 3.5F, 20, 7));
  EXPECT_EQ(move_points(Tensor::empty(DType::f32, {0, 2}), rotation_map(4, 4, 90))->dim(0), 0);
}

TEST(MovePoints, RefusesOtherTensors) {
  EXPECT_FALSE(move_points(Tensor::empty(DType::f64, {1, 2}), {}));
  EXPECT_FALSE(move_points(Tensor::empty(DType::f32, {2}), {}));
  EXPECT_FALSE(move_points(Tensor::empty(DType::f32, {1, 3}), {}));
}

TEST(MoveBoxes, TakesTheHullOfTheCorners) {
  const auto moved = move_boxes(boxes_of({4, 4, 6, 6}), rotation_map(10, 10, 45), 0);
  ASSERT_TRUE(moved);
  const float half = 1.41421356F;
  EXPECT_THAT(moved->boxes.as<float>(), ElementsAre(FloatNear(5 - half, 1e-5F), FloatNear(5 - half, 1e-5F),
                                                    FloatNear(5 + half, 1e-5F), FloatNear(5 + half, 1e-5F)));
}

TEST(MoveBoxes, CutsThemAndDropsTheSmall) {
  const ImageMap right = affine_map(10, 10, {.translate = {5, 0}});
  const Tensor boxes = boxes_of({0, 0, 2, 2, 4, 4, 6, 8, 7, 1, 9, 3});
  const auto moved = move_boxes(boxes, right, 4);
  ASSERT_TRUE(moved);
  EXPECT_THAT(moved->rows, ElementsAre(0, 1));
  EXPECT_THAT(moved->boxes.as<float>(), ElementsAre(5, 0, 7, 2, 9, 4, 10, 8));
  EXPECT_THAT(move_boxes(boxes, right, 4.001)->rows, testing::IsEmpty());
  EXPECT_THAT(move_boxes(boxes, right, 0)->rows, ElementsAre(0, 1, 2));
  EXPECT_EQ(move_boxes(boxes, right, 1000)->boxes.shape(), (Shape{0, 4}));
}

TEST(MoveBoxes, DropsBoxesThatAreNoNumbers) {
  const auto moved =
      move_boxes(boxes_of({kNoPosition, 0, 2, 2, 0, 0, 2, kNoPosition, 1, 1, 3, 3}), affine_map(4, 4, {}), 0);
  ASSERT_TRUE(moved);
  EXPECT_THAT(moved->rows, ElementsAre(2));
}

TEST(MoveBoxes, RefusesCornersInAnotherOrder) {
  const ImageMap same = affine_map(9, 9, {});
  EXPECT_EQ(move_boxes(boxes_of({1, 1, 3, 3, 5, 4, 2, 6}), same, 0).error().message(),
            "boxes, row 1: [5, 4, 2, 6]: left, top, right, bottom were expected");
  EXPECT_FALSE(move_boxes(boxes_of({1, 4, 3, 3}), same, 0));
  EXPECT_FALSE(move_boxes(boxes_of({8, 8, 2, 2}), same, 0)) << "both, so that the area is not negative";
  EXPECT_TRUE(move_boxes(boxes_of({2, 2, 2, 2}), same, 0));
}

TEST(MoveBoxes, TakesTheWholeResultForABoxOnTheHorizon) {
  const Corners start = {XY{0, 0}, XY{10, 0}, XY{10, 10}, XY{0, 10}};
  const Corners end = {XY{4, 0}, XY{6, 0}, XY{10, 10}, XY{0, 10}};
  const ImageMap map = perspective_map(10, 10, start, end);
  const auto moved = move_boxes(boxes_of({0, -100, 10, 10, 0, 0, 10, 10}), map, 1);
  ASSERT_TRUE(moved);
  EXPECT_THAT(moved->boxes.as<float>().subspan(0, 4), ElementsAre(0, 0, 10, 10));
  EXPECT_THAT(moved->boxes.as<float>()[4], FloatNear(0, 1e-5F));
}

TEST(TakeRows, TakesNumbersAndTexts) {
  const std::vector<int64_t> rows = {2, 0};
  const Tensor numbers = Tensor::from(std::vector<int32_t>{1, 2, 3, 4, 5, 6}, {3, 2});
  EXPECT_THAT(take_rows(numbers, rows)->as<int32_t>(), ElementsAre(5, 6, 1, 2));
  const Tensor texts = Tensor::from(std::vector<std::string_view>{"a", "bb", "ccc"}, {3});
  const auto taken = take_rows(texts, rows);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->bytes_at(0), "ccc");
  EXPECT_EQ(taken->bytes_at(1), "a");
  EXPECT_EQ(take_rows(texts, {})->shape(), (Shape{0}));
}

TEST(TakeRows, RefusesRowsThatAreNotThere) {
  const std::vector<int64_t> rows = {3}, before = {-1};
  const Tensor numbers = Tensor::from(std::vector<int32_t>{1, 2, 3}, {3});
  EXPECT_THAT(take_rows(numbers, rows).error().message(), HasSubstr("no row for each box"));
  EXPECT_FALSE(take_rows(numbers, before));
  EXPECT_FALSE(take_rows(Tensor::scalar(1), {}));
}

}  // namespace
}  // namespace headpond

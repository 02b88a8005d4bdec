// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/shape.h"

#include <gtest/gtest.h>

#include "headpond/base/status.h"

namespace headpond {
namespace {

TEST(Shape, KnowsItsDimensions) {
  const Shape shape{2, 3};
  EXPECT_EQ(shape.rank(), 2);
  EXPECT_EQ(shape[1], 3);
  EXPECT_EQ(shape.size(), 6);
  EXPECT_EQ(shape.to_string(), "[2,3]");
  EXPECT_EQ(shape.stacked(5), (Shape{5, 2, 3}));
  EXPECT_EQ(shape.row(), Shape{3});
}

TEST(Shape, AScalarHasOneValue) {
  EXPECT_EQ(Shape().size(), 1);
  EXPECT_EQ(Shape{}.to_string(), "[]");
  EXPECT_EQ((Shape{7}.row()), Shape());
}

TEST(Shape, HoldsMoreThanFourDimensions) {
  const Shape shape{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(shape.rank(), 6);
  EXPECT_EQ(shape[5], 6);
  EXPECT_EQ(shape.size(), 720);
  EXPECT_EQ(shape, shape.row().stacked(1));
  EXPECT_FALSE(shape == (Shape{1, 2, 3, 4, 5, 7}));
}

TEST(Shape, AnUnknownDimensionAdmitsAnyLength) {
  const Shape partial{kUnknown, 3};
  EXPECT_FALSE(partial.is_full());
  EXPECT_EQ(partial.size(), std::nullopt);
  EXPECT_TRUE(partial.admits(Shape{9, 3}));
  EXPECT_FALSE(partial.admits(Shape{9, 4}));
  EXPECT_FALSE(partial.admits(Shape{3}));
  EXPECT_EQ(partial.to_string(), "[?,3]");
}

TEST(Shape, AProductThatOverflowsHasNoSize) {
  EXPECT_EQ((Shape{int64_t{1} << 40, int64_t{1} << 40}.size()), std::nullopt);
  EXPECT_EQ((Shape{int64_t{1} << 40, int64_t{1} << 40, 0}.size()), 0);
}

TEST(Shape, RefusesDimensionsBelowZero) { EXPECT_THROW((Shape{2, -2}), Exception); }

}  // namespace
}  // namespace headpond

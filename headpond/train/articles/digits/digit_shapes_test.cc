// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "headpond/train/articles/digits/digit_shapes_internal.h"

namespace headpond::internal {
namespace {

TEST(DigitShapes, HaveStrokesInsideTheirBox) {
  for (int digit = 0; digit <= 9; ++digit) {
    EXPECT_GE(digit_shapes(digit).size(), 2U) << digit;
    for (const DigitShape shape : digit_shapes(digit)) {
      EXPECT_GE(shape.size(), 1U);
      for (const Stroke stroke : shape) {
        EXPECT_GE(stroke.size(), 2U);
        EXPECT_LE(stroke.size(), 16U);
        for (const StrokePoint point : stroke) {
          EXPECT_TRUE(point.x >= 0 && point.x <= 1 && point.y >= 0 && point.y <= 1) << digit;
        }
      }
    }
  }
}

TEST(DigitShapes, ReachFromTopToBottom) {
  for (int digit = 0; digit <= 9; ++digit) {
    for (const DigitShape shape : digit_shapes(digit)) {
      float top = 1, bottom = 0;
      for (const Stroke stroke : shape) {
        for (const StrokePoint point : stroke) {
          top = std::min(top, point.y);
          bottom = std::max(bottom, point.y);
        }
      }
      EXPECT_LT(top, 0.1F) << digit;
      EXPECT_GT(bottom, 0.9F) << digit;
    }
  }
}

TEST(DigitShapes, KnowNoEleventhDigit) { EXPECT_THROW(digit_shapes(10), std::out_of_range); }

}  // namespace
}  // namespace headpond::internal

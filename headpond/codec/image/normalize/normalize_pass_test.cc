// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <array>

#include "headpond/codec/image/normalize/normalize_pass_internal.h"

namespace headpond::image_internal {
namespace {

using testing::ElementsAre;

TEST(NormalizePass, WritesARowOfEachPlane) {
  const NormalizePass pass({.mean = {0, 1}, .std = {1, 0.5}});
  const std::array<float, 4> pixels = {1, 2, 3, 4};
  std::vector<float> out(8, -9);
  pass.row(pixels.data(), 1, {2, 2, 2}, reinterpret_cast<std::byte*>(out.data()));
  EXPECT_THAT(out, ElementsAre(-9, -9, 1, 3, -9, -9, 2, 6));
  pass.images(reinterpret_cast<const std::byte*>(pixels.data()), f32, 2, {1, 1, 2},
              reinterpret_cast<std::byte*>(out.data()));
  EXPECT_THAT(out, ElementsAre(1, 2, 3, 6, -9, -9, 2, 6));
  EXPECT_EQ(pass.shape(5, 6, 2), (Shape{2, 5, 6}));
  EXPECT_TRUE(pass.takes(2));
  EXPECT_FALSE(pass.takes(3));
  EXPECT_TRUE(NormalizePass({.mean = {0}, .std = {1}}).takes(3));
}

}  // namespace
}  // namespace headpond::image_internal

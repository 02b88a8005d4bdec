// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/image_chain_internal.h"
#include "headpond/codec/image/kernels/image_test_internal.h"
#include "headpond/codec/image/kernels/resize_kernel.h"

namespace headpond::image_internal {
namespace {

using testing::ElementsAre;

// The place of each column of the result in an image of `width` columns.
std::vector<int64_t> columns_of(const std::vector<KernelRef>& chain, int64_t width) {
  KernelRef kernel = chain[0];
  for (size_t i = 1; i < chain.size(); ++i) kernel = kernel->with(chain[i]);
  const std::vector<RandomKey> keys(chain.size());
  KernelScratch scratch;
  const KernelCall call({}, keys, 0, {}, scratch);
  Geometry geometry;
  EXPECT_TRUE(plan_geometry(dynamic_cast<const ImageChain&>(*kernel).stages(), 1, width, call, geometry));
  std::vector<int64_t> map;
  map_axis(geometry, false, scratch.get<ImageScratch>().taps, map);
  return map;
}

TEST(Geometry, PlacesFollowTheStages) {
  EXPECT_THAT(columns_of({crop(0, 2, {1, 3})}, 9), ElementsAre(2, 3, 4));
  EXPECT_THAT(columns_of({crop(0, -1, {1, 3}), random_horizontal_flip(1)}, 9), ElementsAre(1, 0, -1));
  EXPECT_THAT(columns_of({random_horizontal_flip(1), crop(0, 0, {1, 3})}, 9), ElementsAre(8, 7, 6));
  EXPECT_THAT(columns_of({resize({1, 3}), crop(0, 1, {1, 4})}, 9), ElementsAre(4, 7, -1, -1));
  EXPECT_THAT(columns_of({crop(0, 0, {1, 2}), crop(0, 1, {1, 2})}, 9), ElementsAre(1, -1));
  EXPECT_THAT(columns_of({pad({2, 0}, {.mode = PadMode::edge}), resize({1, 3})}, 2), ElementsAre(0, 1, 1));
}

TEST(Geometry, RectanglesMeet) {
  EXPECT_EQ(intersection({0, 0, 4, 4}, {2, 3, 4, 4}), (ImageWindow{2, 3, 2, 1}));
  EXPECT_EQ(intersection({0, 0, 4, 4}, {5, 0, 1, 4}).height, 0);
  EXPECT_TRUE(contains({0, 0, 4, 4}, {0, 0, 4, 4}));
  EXPECT_FALSE(contains({0, 0, 4, 4}, {0, 1, 4, 4}));
}

TEST(Geometry, RefusesImagesWithoutPixels) {
  KernelScratch scratch;
  const KernelCall call({}, {}, 0, {}, scratch);
  Geometry geometry;
  EXPECT_FALSE(plan_geometry({}, 0, 5, call, geometry));
  EXPECT_FALSE(plan_geometry({}, 5, kResizeMaxSide + 1, call, geometry));
  EXPECT_TRUE(plan_geometry({}, 1, kResizeMaxSide, call, geometry));
}

}  // namespace
}  // namespace headpond::image_internal

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/image_test_internal.h"
#include "headpond/codec/image/kernels/jpeg_kernel.h"
#include "headpond/codec/image/kernels/resize_kernel.h"

namespace headpond::image_internal {
namespace {

using testing::ElementsAre;

TEST(ImagePass, PadsOnTheMirroredSide) {
  const std::vector<KernelRef> chain = {pad({1, 0, 2, 0}), random_horizontal_flip(1)};
  EXPECT_THAT(run_kernels(chain, row_image({1, 2}))->as<uint8_t>(), ElementsAre(0, 0, 2, 1, 0));
  const std::vector<KernelRef> down = {pad({0, 1, 0, 2}), random_vertical_flip(1)};
  EXPECT_THAT(run_kernels(down, row_image({5}))->as<uint8_t>(), ElementsAre(0, 0, 5, 0));
}

TEST(ImagePass, PaddingBeforeAResizeIsResizedToo) {
  const std::vector<KernelRef> chain = {pad({2, 0}), resize({1, 3}, {.filter = ResizeFilter::box})};
  EXPECT_THAT(run_kernels(chain, row_image({100, 60}))->as<uint8_t>(), ElementsAre(0, 80, 0));
}

TEST(ImagePass, AResizeReadsTheRegionThatItsCropNeeds) {
  if (!has_jpeg()) GTEST_SKIP() << "without the component jpeg";
  const Tensor file = jpeg_of(smooth_image(50, 70));
  const std::vector<KernelRef> chain = {decode_jpeg(JpegOptions()), resize(20), center_crop({8, 9})};
  const auto joined = run_kernels(chain, file), alone = run_kernels(chain, file, {.joined = false});
  ASSERT_TRUE(joined && alone);
  EXPECT_TRUE(same_tensor(*joined, *alone));
}

TEST(ImagePass, AnImageOfOnePixelMayBecomeAny) {
  const Tensor pixel = Tensor::from(std::vector<uint8_t>{9, 8, 7}, {1, 1, 3});
  const std::vector<KernelRef> chain = {random_resized_crop({2, 2}), random_horizontal_flip(), random_vertical_flip()};
  EXPECT_THAT(run_kernels(chain, pixel)->as<uint8_t>(), ElementsAre(9, 8, 7, 9, 8, 7, 9, 8, 7, 9, 8, 7));
}

}  // namespace
}  // namespace headpond::image_internal

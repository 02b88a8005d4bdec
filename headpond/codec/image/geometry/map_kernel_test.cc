// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/codec/image/geometry/geometry_test_internal.h"
#include "headpond/codec/image/geometry/map_kernel_internal.h"

namespace headpond {
namespace {

using warp_internal::map_kernel;
using warp_internal::Title;
using warp_internal::WarpSize;

TEST(MapKernel, LeavesASampleWithoutAMapAsItIs) {
  const Tensor image = test::noise_picture(3, 3, 1);
  const Tensor boxes = Tensor::from(std::vector<float>{-3, -3, 0, 0}, {1, 4});
  const std::vector<KernelRef> all = {map_kernel(
      {.name = "still", .title = "still", .options = {}, .map = [](WarpSize, Random&) { return std::nullopt; }})};
  const auto same = run_kernels(all, {image, boxes}, {.roles = {FieldRole::image, FieldRole::boxes}});
  ASSERT_TRUE(same);
  EXPECT_TRUE(test::same_bytes((*same)[0], image));
  EXPECT_TRUE(test::same_bytes((*same)[1], boxes));
  EXPECT_EQ(all[0]->facts().draws, "");
}

TEST(MapKernel, SaysWhatIsNotTheDefault) {
  Title title("turn");
  title.add("angle", 0, 0);
  title.add(warp_internal::FieldOptions());
  title.add(std::optional<XY>());
  EXPECT_EQ(title.text(), "turn");
  title.add("angle", 1.5, 0);
  title.add("shear", std::vector<double>{1, -2});
  title.add(std::optional<XY>(XY{3, 4}));
  title.add({.image = {Interpolation::bilinear, {7}}, .mask_fill = 255, .min_area = 0});
  EXPECT_EQ(title.text(),
            "turn(angle=1.5, shear=[1,-2], center=[3,4], interpolation=bilinear, fill=7, mask_fill=255, min_area=0)");
}

TEST(MapKernel, NamesItselfInWhatItRefuses) {
  try {
    warp_internal::refuse_option("turn", "no");
    FAIL();
  } catch (const Exception& wrong) {
    EXPECT_EQ(wrong.error().message(), "turn: no");
  }
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "headpond/plan/kernels/plan_kernel.h"
#include "headpond/plan/plan_test_internal.h"

namespace headpond::plan {
namespace {

using testing::HasSubstr;

// The title of a kernel with these options, or why they are refused.
std::string image_kernel(const std::string& name, const std::string& options) {
  const auto& all = image_plan_kernels();
  const auto found = std::find_if(all.begin(), all.end(), [&](const PlanKernel& one) { return one.name == name; });
  const PlanValue table = parse_toml(options, "f.toml");
  try {
    return found->build(PlanArguments("f.toml", 1, name, &table, found->options))->facts().title;
  } catch (const PlanError& refused) {
    return refused.error().message();
  }
}

TEST(ImagePlanKernels, HaveTheLibrarysOptions) {
  EXPECT_EQ(image_kernel("decode_jpeg", "channels = 1\ndamage = 'recover'\ncheck = 'whole'\nscale = 'fit'\n"),
            "decode_jpeg(channels=1, damage=recover, check=whole, scale=fit)");
  EXPECT_EQ(image_kernel("crop", "y = 1\nx = 2\nsize = [3, 4]\n"), "crop(1, 2, [3,4])");
  EXPECT_EQ(image_kernel("crop", "y = 1\nx = 2\nsize = [3, 4]\nmask_fill = 255\n"), "crop(1, 2, [3,4], mask_fill=255)");
  EXPECT_EQ(image_kernel("center_crop", "size = 224\nmin_area = 4\n"), "center_crop(224, min_area=4)");
  EXPECT_EQ(image_kernel("pad", "padding = [4, 2]\nfill = 1.5\nmode = 'edge'\n"), "pad([4,2], fill=[1.5], mode=edge)");
  EXPECT_EQ(image_kernel("random_crop", "size = 32\npadding = 4\n"), "random_crop(32, padding=[4])");
  EXPECT_EQ(image_kernel("random_resized_crop", "size = [224, 224]\nscale = [0.5, 1]\nantialias = false\n"),
            "random_resized_crop([224,224], scale=[0.5,1], antialias=false)");
  EXPECT_EQ(image_kernel("resize", "size = 256\nfilter = 'lanczos'\nmax_size = 300\n"),
            "resize(256, filter=lanczos, max_size=300)");
  EXPECT_EQ(image_kernel("resize", "max_size = 300\n"), "resize(max_size=300)");
  EXPECT_EQ(image_kernel("random_horizontal_flip", ""), "random_horizontal_flip");
  EXPECT_EQ(image_kernel("random_vertical_flip", "p = 1\n"), "random_vertical_flip(p=1)");
  EXPECT_EQ(image_kernel("distance_map", "limit = 20\ngroups = 2\nlayout = 'chw'\n"),
            "distance_map(limit=20, groups=2, layout=chw)");
  EXPECT_EQ(image_kernel("normalize", "mean = 0.5\nstd = 0.25\nlayout = 'hwc'\ndtype = 'float16'\n"),
            "normalize(mean=[0.5], std=[0.25], layout=hwc, dtype=float16)");
}

TEST(ImagePlanKernels, NameTheOptionThatIsWrong) {
  EXPECT_THAT(image_kernel("resize", "size = [1, 2, 3]\n"), HasSubstr("size must be one number or [height, width]"));
  EXPECT_THAT(image_kernel("resize", "size = 4\nfilter = 'cubic'\n"),
              HasSubstr("filter is 'cubic': one of nearest, box"));
  EXPECT_THAT(image_kernel("crop", "y = 1\nsize = 2\n"), HasSubstr("x is missing"));
}

}  // namespace
}  // namespace headpond::plan

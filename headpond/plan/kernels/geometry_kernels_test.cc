// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "headpond/io/array/npy.h"
#include "headpond/plan/plan_test_internal.h"

namespace headpond::plan {
namespace {

using testing::HasSubstr;

// Images of 4 x 6 pixels, then a map with this kernel.
std::string with_kernel(const std::string& kernel) {
  const std::string path = testing::TempDir() + "/geometry_plan_kernels.npy";
  const auto written = write_npy(path, Tensor::from(std::vector<uint8_t>(144, 7), {2, 4, 6, 3}));
  EXPECT_TRUE(written);
  return step("npy", "paths = ['" + path + "']") + step("map", "kernels = [{ " + kernel + " }]");
}

std::string plan_of(const std::string& kernel) { return parse_plan(with_kernel(kernel), "f.toml").dataset.plan(); }

TEST(GeometryPlanKernels, TakeTheirOptions) {
  EXPECT_THAT(plan_of("name = 'affine', angle = 10, translate = [1, 2], scale = 1.5, shear = [3, 4], center = [0, 1]"),
              HasSubstr("affine(angle=10, translate=[1,2], scale=1.5, shear=[3,4], center=[0,1])"));
  EXPECT_THAT(plan_of("name = 'affine', shear = 3, fill = [1, 2, 3], interpolation = 'bilinear'"),
              HasSubstr("affine(shear=[3,0], interpolation=bilinear, fill=[1,2,3])"));
  EXPECT_THAT(plan_of("name = 'rotate', angle = 45, expand = true, mask_fill = 255, min_area = 4"),
              HasSubstr("rotate(angle=45, expand=true, mask_fill=255, min_area=4)"));
  EXPECT_THAT(plan_of("name = 'rotate', angle = 45, center = [1, 2.5], fill = 9"),
              HasSubstr("center=[1,2.5], fill=9)"));
  EXPECT_THAT(plan_of("name = 'perspective', startpoints = [[0, 0], [5, 0], [5, 3], [0, 3]], "
                      "endpoints = [[1, 0], [5, 0], [5, 3], [0.5, 3]]"),
              HasSubstr("endpoints=[1,0,5,0,5,3,0.5,3]"));
  EXPECT_THAT(plan_of("name = 'random_affine', degrees = [-5, 10], translate = [0.1, 0.2], scale = [0.9, 1.1], "
                      "shear = [-1, 1, -2, 2], center = [0, 0]"),
              HasSubstr("random_affine(degrees=[-5,10], translate=[0.1,0.2], scale=[0.9,1.1], shear=[-1,1,-2,2], "
                        "center=[0,0])"));
  EXPECT_THAT(plan_of("name = 'random_affine', degrees = 5, shear = [1, 2]"), HasSubstr("(degrees=5, shear=[1,2])"));
  EXPECT_THAT(plan_of("name = 'random_affine', degrees = 5, shear = 1"), HasSubstr("(degrees=5, shear=1)"));
  EXPECT_THAT(plan_of("name = 'random_rotation', degrees = 30"), HasSubstr("random_rotation(degrees=30)"));
  EXPECT_THAT(plan_of("name = 'random_perspective', distortion_scale = 0.2, p = 1"),
              HasSubstr("random_perspective(distortion_scale=0.2, p=1)"));
}

TEST(GeometryPlanKernels, ArePoliciesToo) {
  EXPECT_THAT(plan_of("name = 'rand_augment', num_ops = 3, magnitude = 5, num_magnitude_bins = 11, fill = 7"),
              HasSubstr("rand_augment(num_ops=3, magnitude=5, num_magnitude_bins=11, fill=7)"));
  EXPECT_THAT(plan_of("name = 'trivial_augment_wide', num_magnitude_bins = 5"),
              HasSubstr("trivial_augment_wide(num_magnitude_bins=5)"));
  EXPECT_THAT(plan_of("name = 'auto_augment', policy = 'cifar10'"), HasSubstr("auto_augment(policy=cifar10)"));
  EXPECT_THAT(refused(with_kernel("name = 'auto_augment', policy = 'mnist'")), HasSubstr("no policy 'mnist'"));
}

TEST(GeometryPlanKernels, RefuseOtherOptions) {
  EXPECT_THAT(refused(with_kernel("name = 'rotate'")), HasSubstr("angle"));
  EXPECT_THAT(refused(with_kernel("name = 'rotate', angle = 1, interpolation = 'cubic'")), HasSubstr("interpolation"));
  EXPECT_THAT(refused(with_kernel("name = 'rotate', angle = 1, fill = 256")),
              HasSubstr(": map: rotate(angle=1, fill=256): fill is 256: no value of uint8"));
  EXPECT_THAT(refused(with_kernel("name = 'affine', translate = 1")), HasSubstr("has 1 numbers: 2 are expected"));
  EXPECT_THAT(refused(with_kernel("name = 'affine', scale = 0")), HasSubstr("scale is 0"));
  EXPECT_THAT(refused(with_kernel("name = 'random_affine', degrees = [1, 2, 3]")), HasSubstr("1 or 2 are expected"));
  EXPECT_THAT(refused(with_kernel("name = 'random_affine', degrees = 1, shear = [1, 2, 3]")),
              HasSubstr("1 or 2 or 4 are expected"));
  EXPECT_THAT(refused(with_kernel("name = 'perspective', startpoints = [[0, 0]], endpoints = [[0, 0]]")),
              HasSubstr("must be four points"));
  EXPECT_THAT(refused(with_kernel("name = 'perspective', startpoints = [[0, 0], [5, 0], [5, 3], [0, 3]], "
                                  "endpoints = [[0, 0], [5, 0], [5, 3], [0]]")),
              HasSubstr("must be four points"));
}

}  // namespace
}  // namespace headpond::plan

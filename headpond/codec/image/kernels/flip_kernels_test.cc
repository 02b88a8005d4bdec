// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/flip_kernels.h"

#include <gmock/gmock.h>

#include <limits>

#include "headpond/codec/image/kernels/image_test_internal.h"

namespace headpond {
namespace {

using image_internal::refusal;
using image_internal::run_one_kernel;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(FlipKernels, MirrorColumnsOrRows) {
  const Tensor image = Tensor::from(std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2});
  EXPECT_THAT(run_one_kernel(random_horizontal_flip(1), image)->as<uint8_t>(), ElementsAre(3, 4, 1, 2, 7, 8, 5, 6));
  EXPECT_THAT(run_one_kernel(random_vertical_flip(1), image)->as<uint8_t>(), ElementsAre(5, 6, 7, 8, 1, 2, 3, 4));
  EXPECT_THAT(run_one_kernel(random_vertical_flip(0), image)->as<uint8_t>(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(FlipKernels, MirrorAboutAsManySamplesAsPSays) {
  const Tensor image = image_internal::row_image({1, 2});
  int flips = 0;
  for (uint64_t key = 0; key < 1'000; ++key) {
    flips += run_one_kernel(random_horizontal_flip(0.25), image, {.key = key})->as<uint8_t>()[0] == 2;
  }
  EXPECT_GT(flips, 200);
  EXPECT_LT(flips, 300);
}

TEST(FlipKernels, RefuseProbabilitiesOutOfRange) {
  EXPECT_THAT(refusal([] { random_horizontal_flip(1.5); }), HasSubstr("p 1.5"));
  EXPECT_THAT(refusal([] { random_vertical_flip(std::numeric_limits<double>::quiet_NaN()); }), HasSubstr("p nan"));
  EXPECT_EQ(random_horizontal_flip()->facts().title, "random_horizontal_flip");
  EXPECT_EQ(random_vertical_flip(1)->facts().title, "random_vertical_flip(p=1)");
}

}  // namespace
}  // namespace headpond

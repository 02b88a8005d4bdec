// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/codec/sound/level/level_kernels.h"

namespace headpond {
namespace {

TEST(Mono, IsTheMeanOfTheChannels) {
  const std::vector<KernelRef> chain = {mono()};
  const Tensor sound = Tensor::from(std::vector<float>{1, 2, 6, -1, 0, 4}, {2, 3});
  const auto one = run_kernels(chain, sound);
  ASSERT_TRUE(one) << one.error();
  EXPECT_EQ(one->shape(), (Shape{2, 1}));
  EXPECT_THAT(one->as<float>(), testing::ElementsAre(3, 1));
  EXPECT_FALSE(run_kernels(chain, Tensor::empty(f32, {3, 0})));
}

TEST(Mono, SaysWhatItGivesAndNeedsChannels) {
  EXPECT_EQ(mono()->facts().title, "mono");
  EXPECT_EQ(mono()->facts().result({{"a", f32, {kUnknown, kUnknown}}})[0].shape, (Shape{kUnknown, 1}));
  EXPECT_THROW(mono()->facts().result({{"a", f32, {kUnknown}}}), Exception);
}

}  // namespace
}  // namespace headpond

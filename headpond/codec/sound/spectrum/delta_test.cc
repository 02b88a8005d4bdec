// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/spectrum/delta.h"

#include <gmock/gmock.h>

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

Tensor squares() { return Tensor::from(std::vector<float>{0, 5, 1, 5, 4, 5, 9, 5, 16, 5}, {5, 2}); }

TEST(Delta, IsTheSlopeWithRepeatedEdges) {
  const auto found = delta(squares());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shape(), (Shape{5, 2}));
  // (1 (x[t+1] - x[t-1]) + 2 (x[t+2] - x[t-2])) / 10
  EXPECT_THAT(found->as<float>(), ElementsAre(FloatNear(0.9F, 1e-6F), 0, FloatNear(2.2F, 1e-6F), 0, 4, 0,
                                              FloatNear(4.2F, 1e-6F), 0, FloatNear(3.1F, 1e-6F), 0));
}

TEST(Delta, AppendsAndTakesFeaturesFirst) {
  const auto appended = delta(squares(), {.width = 3, .append = true});
  EXPECT_EQ(appended->shape(), (Shape{5, 4}));
  EXPECT_THAT(appended->row(1).as<float>(), ElementsAre(1, 5, 2, 0));
  const Tensor first = Tensor::from(std::vector<float>{0, 1, 4}, {1, 3});
  EXPECT_THAT(delta(first, {.width = 3, .mels_first = true})->as<float>(), ElementsAre(0.5F, 2, 1.5F));
  const auto both = delta(first, {.width = 3, .mels_first = true, .append = true});
  EXPECT_EQ(both->shape(), (Shape{2, 3}));
  EXPECT_THAT(both->as<float>(), ElementsAre(0, 1, 4, 0.5F, 2, 1.5F));
}

TEST(Delta, TakesNoFramesAndOne) {
  EXPECT_EQ(delta(Tensor::empty(DType::f32, {0, 3}))->shape(), (Shape{0, 3}));
  EXPECT_THAT(delta(Tensor::from(std::vector<float>{7, 8}, {1, 2}))->as<float>(), ElementsAre(0, 0));
}

TEST(DeltaKernel, GivesTheSameAndKnowsTheShape) {
  const std::vector<KernelRef> all = {delta({.append = true})};
  EXPECT_THAT(run_kernels(all, squares())->as<float>(),
              testing::ElementsAreArray(delta(squares(), {.append = true})->as<float>()));
  EXPECT_EQ(all[0]->facts().title, "delta(append=true)");
  EXPECT_EQ(all[0]->facts().result({{"x", DType::f32, {kUnknown, 40}}})[0].shape, (Shape{kUnknown, 80}));
}

TEST(Delta, RefusesOtherWidthsAndFields) {
  for (const int64_t width : {-1, 0, 1, 4, 1003}) {
    EXPECT_THROW(delta({.width = width}), Exception);
    EXPECT_EQ(delta(squares(), {.width = width}).error().kind(), ErrorKind::InvalidArgument);
  }
  EXPECT_THROW(delta()->facts().result({{"x", DType::f32, {3}}}), Exception);
  EXPECT_FALSE(delta(Tensor::scalar(1.0F)));
}

}  // namespace
}  // namespace headpond

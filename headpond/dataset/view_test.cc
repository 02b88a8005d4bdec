// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/view.h"

#include <array>

#include "headpond/dataset/dataset_test_internal.h"

namespace headpond::internal {
namespace {

TEST(Context, WritesAFieldToTheOfferedPlaceIffItFits) {
  const FieldSpec pair{"", DType::f32, {2}};
  alignas(64) std::array<std::byte, 8> place{};
  const std::array<Offer, 1> offers = {Offer{place.data(), &pair}};
  Context context;
  Element fits, other_dtype, other_shape, second;
  EXPECT_EQ(context.make(fits, offers, DType::f32, {2}), place.data());
  EXPECT_EQ(fits[size_t{0}].data(), place.data());
  EXPECT_NE(context.make(other_dtype, offers, DType::i32, {2}), place.data());
  EXPECT_NE(context.make(other_shape, offers, DType::f32, {1, 2}), place.data());
  second.append(Tensor::scalar(1));
  EXPECT_NE(context.make(second, offers, DType::f32, {2}), place.data()) << "the offer is for the first field";
}

TEST(Context, GivesThePlaceOfSmallAndLargeFields) {
  Context context;
  for (const int64_t count : {0, 1, 4, 5, 1000}) {
    Element out;
    std::byte* const place = context.make(out, {}, DType::f32, {count});
    EXPECT_EQ(place, out[size_t{0}].data()) << count;
  }
}

TEST(Context, BindsOnceAndForgetsTheOldest) {
  const Dataset dataset = range(3);
  Context context;
  const auto first = context.view(*dataset.node(), {1, 0});
  EXPECT_EQ(context.view(*dataset.node(), {1, 0}), first);
  for (uint64_t epoch = 1; epoch < 40; ++epoch) EXPECT_NE(context.view(*dataset.node(), {1, epoch}), first);
  EXPECT_NE(context.view(*dataset.node(), {1, 0}), nullptr);
}

TEST(View, HasNoColumnsUnlessItSaysSo) {
  const auto view = (range(3) | filter([](int64_t) { return true; })).node()->bind({});
  Context context;
  EXPECT_FALSE(view->fill({}, context, {}, nullptr));
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "headpond/io/field_targets_internal.h"

namespace headpond::internal {
namespace {

TEST(FieldTargets, AreAsManyAsFieldsOrNone) {
  std::array<std::byte*, 2> places = {};
  std::vector<Tensor> out(2);
  EXPECT_TRUE((FieldTargets{places, out}.check(2)));
  EXPECT_TRUE((FieldTargets{{}, {}}.check(2)));
  EXPECT_EQ((FieldTargets{places, {}}.check(3).error().kind()), ErrorKind::InvalidArgument);
  EXPECT_EQ((FieldTargets{{}, out}.check(1).error().kind()), ErrorKind::InvalidArgument);
}

TEST(FieldTargets, AFieldWithoutAPlaceNeedsATensor) {
  std::byte value{};
  const std::array<std::byte*, 2> places = {&value, nullptr};
  std::vector<Tensor> out(2);
  const FieldTargets both = {places, out};
  EXPECT_EQ(both.place(0), &value);
  EXPECT_EQ(both.place(1), nullptr);
  ASSERT_TRUE(both.give(1, Tensor::scalar(int64_t{5})));
  EXPECT_EQ(out[1].as<int64_t>()[0], 5);
  const FieldTargets none = {places, {}};
  EXPECT_EQ(none.give(1, Tensor()).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ((FieldTargets{{}, out}.place(0)), nullptr);
}

}  // namespace
}  // namespace headpond::internal

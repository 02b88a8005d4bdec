// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "headpond/io/field_targets_internal.h"

namespace headpond::internal {
namespace {

TEST(FieldTargets, AreAsManyAsFieldsOrNone) {
  std::array<std::byte*, 2> targets = {};
  std::vector<Tensor> out(2);
  EXPECT_TRUE((FieldTargets{targets, out}.check(2)));
  EXPECT_TRUE((FieldTargets{{}, {}}.check(2)));
  EXPECT_EQ((FieldTargets{targets, {}}.check(3).error().kind()), ErrorKind::InvalidArgument);
  EXPECT_EQ((FieldTargets{{}, out}.check(1).error().kind()), ErrorKind::InvalidArgument);
}

TEST(FieldTargets, AFieldWithoutAPlaceNeedsATensor) {
  std::byte value{};
  const std::array<std::byte*, 2> targets = {&value, nullptr};
  std::vector<Tensor> out(2);
  const FieldTargets both = {targets, out};
  EXPECT_EQ(both.target(0), &value);
  EXPECT_EQ(both.target(1), nullptr);
  ASSERT_TRUE(both.give(1, Tensor::scalar(int64_t{5})));
  EXPECT_EQ(out[1].as<int64_t>()[0], 5);
  const FieldTargets none = {targets, {}};
  EXPECT_EQ(none.give(1, Tensor()).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ((FieldTargets{{}, out}.target(0)), nullptr);
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "headpond/io/default_value_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;

Result<Tensor> given(const DefaultValue& value) {
  std::vector<Tensor> out(1);
  HEADPOND_TRY(value.give(0, nullptr, {{}, out}));
  return out[0];
}

TEST(DefaultValue, AScalarIsOfEveryValueOfAShape) {
  EXPECT_THAT(given(DefaultValue(Tensor::scalar(0.5F), {3})).value().as<float>(), ElementsAre(0.5F, 0.5F, 0.5F));
  const Tensor texts = given(DefaultValue(Tensor::scalar("xy"), {2, 1})).value();
  EXPECT_TRUE(texts.has_shape({2, 1}));
  EXPECT_EQ(texts.bytes_at(1), "xy");
  std::array<int32_t, 6> row = {};
  row[5] = 9;
  ASSERT_TRUE(DefaultValue(Tensor::scalar(int32_t{7}), {5}).give(0, reinterpret_cast<std::byte*>(row.data()), {}));
  EXPECT_THAT(row, ElementsAre(7, 7, 7, 7, 7, 9));
  EXPECT_EQ(given(DefaultValue(Tensor::scalar(1.0F), {0, 4})).value().byte_size(), 0U);
}

TEST(DefaultValue, WhatHasAShapeOrNeedsNoneIsGivenAsItIs) {
  const Tensor two = Tensor::from(std::span<const int64_t>(std::array<int64_t, 2>{1, 2}), {2});
  EXPECT_THAT(given(DefaultValue(two, {2})).value().as<int64_t>(), ElementsAre(1, 2));
  EXPECT_THAT(given(DefaultValue(two, {kUnknown})).value().as<int64_t>(), ElementsAre(1, 2));
  std::array<int64_t, 2> row = {};
  ASSERT_TRUE(DefaultValue(two, {2}).give(0, reinterpret_cast<std::byte*>(row.data()), {}));
  EXPECT_THAT(row, ElementsAre(1, 2));
  EXPECT_EQ(given(DefaultValue(Tensor::scalar(int64_t{5}), {})).value().rank(), 0);
}

TEST(DefaultValue, ATensorIsMadeOnceForAllThreads) {
  const DefaultValue value(Tensor::scalar(0.5F), {1000});
  std::array<const std::byte*, 4> seen = {};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < seen.size(); ++i) threads.emplace_back([&, i] { seen[i] = given(value).value().data(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(seen, testing::Each(seen[0]));
}

TEST(DefaultValue, OfAHugeShapeCostsNothingUntilItIsGiven) {
  for (const Tensor& scalar : {Tensor::scalar(0.5F), Tensor::scalar("a")}) {
    const DefaultValue value(scalar, {int64_t{1} << 40, int64_t{1} << 20});
    const auto none = given(value);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind(), ErrorKind::ResourceExhausted);
    EXPECT_THAT(none.error().message(), testing::HasSubstr("[1099511627776,1048576]"));
  }
}

TEST(DefaultValue, ChecksumsTellValuesApart) {
  const auto checksum = [](float value) { return DefaultValue(Tensor::scalar(value), {2}).checksum(); };
  EXPECT_EQ(checksum(1), checksum(1));
  EXPECT_NE(checksum(1), checksum(2));
}

}  // namespace
}  // namespace headpond::internal

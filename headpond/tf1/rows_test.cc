// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tf1/rows_internal.h"

namespace headpond::tf1::internal {
namespace {

using testing::ElementsAre;

TEST(GatherRows, TakesRowsInTheOrderAskedForAlsoTwiceOrNone) {
  const std::vector<int32_t> values = {0, 1, 10, 11, 20, 21};
  const Tensor tensor = Tensor::from(std::span<const int32_t>(values), {3, 2});
  const std::vector<int64_t> numbers = {2, 0, 2};
  const Tensor rows = gather_rows(tensor, numbers);
  EXPECT_EQ(rows.shape(), (Shape{3, 2}));
  EXPECT_THAT(rows.as<int32_t>(), ElementsAre(20, 21, 0, 1, 20, 21));
  EXPECT_EQ(gather_rows(tensor, {}).shape(), (Shape{0, 2}));
}

TEST(GatherRows, TakesStringsOfAnyLength) {
  const std::vector<std::string_view> values = {"", "a", "bb", "ccc"};
  const Tensor tensor = Tensor::from(std::span<const std::string_view>(values), {2, 2});
  const std::vector<int64_t> numbers = {1, 0};
  const Tensor rows = gather_rows(tensor, numbers);
  EXPECT_EQ(rows.shape(), (Shape{2, 2}));
  EXPECT_EQ(rows.bytes_at(0), "bb");
  EXPECT_EQ(rows.bytes_at(3), "a");
  EXPECT_EQ(gather_rows(tensor, {}).shape(), (Shape{0, 2}));
}

TEST(GatherRows, RowsMayBeEmpty) {
  const Tensor tensor = Tensor::empty(DType::f32, {3, 0});
  const std::vector<int64_t> numbers = {2};
  EXPECT_EQ(gather_rows(tensor, numbers).shape(), (Shape{1, 0}));
  EXPECT_EQ(gather_rows(Tensor::empty(DType::f32, {0, 4}), {}).shape(), (Shape{0, 4}));
}

TEST(Refuse, NamesTheFunction) {
  try {
    refuse("f", "why");
  } catch (const Exception& refused) {
    EXPECT_EQ(refused.error().message(), "f: why");
  }
}

}  // namespace
}  // namespace headpond::tf1::internal

// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/padding.h"

#include <gmock/gmock.h>

namespace headpond {
namespace {

using testing::ElementsAre;

// The values of `from`, of bytes counted from 1, in `to`.
std::vector<int> padded(const Shape& from, const Shape& to, uint8_t value) {
  const std::vector<uint8_t> values = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto count = static_cast<size_t>(*from.size());
  Tensor out = Tensor::empty(u8, to);
  write_padded(Tensor::from(std::span<const uint8_t>(values.data(), count), from), to, {std::byte(value)},
               out.mutable_data());
  return {out.as<uint8_t>().begin(), out.as<uint8_t>().end()};
}

TEST(WritePadded, PutsTheTensorAtTheBeginning) {
  EXPECT_THAT(padded({}, {}, 9), ElementsAre(1));
  EXPECT_THAT(padded({2}, {2}, 9), ElementsAre(1, 2));
  EXPECT_THAT(padded({2}, {4}, 9), ElementsAre(1, 2, 9, 9));
  EXPECT_THAT(padded({0}, {2}, 0), ElementsAre(0, 0));
  EXPECT_THAT(padded({2, 2}, {3, 3}, 9), ElementsAre(1, 2, 9, 3, 4, 9, 9, 9, 9));
  EXPECT_THAT(padded({2, 2}, {2, 3}, 0), ElementsAre(1, 2, 0, 3, 4, 0));
  EXPECT_THAT(padded({2, 0}, {2, 1}, 7), ElementsAre(7, 7));
  EXPECT_THAT(padded({2, 1, 2}, {2, 2, 2}, 0), ElementsAre(1, 2, 0, 0, 3, 4, 0, 0));
}

TEST(WritePadded, LeavesATensorThatLiesThereAlready) {
  std::vector<uint8_t> memory = {1, 2, 3, 9};
  auto* const data = reinterpret_cast<std::byte*>(memory.data());
  write_padded(Tensor::writable_view(data, u8, {3}), {3}, {std::byte{7}}, data);
  EXPECT_THAT(memory, ElementsAre(1, 2, 3, 9));
}

TEST(AppendPadded, FillsWithATextWhichIsEmptyUnlessSaid) {
  const std::vector<std::string_view> texts = {"a", "b", "c", "d"};
  const Tensor tensor = Tensor::from(std::span<const std::string_view>(texts), {2, 2});
  std::vector<std::string_view> values = {"before"};
  append_padded(tensor, {2, 3}, values);
  EXPECT_THAT(values, ElementsAre("before", "a", "b", "", "c", "d", ""));
  append_padded(Tensor::from(std::span<const std::string_view>(), {0}), {1}, values);
  EXPECT_EQ(values.size(), 8U);
  values.clear();
  append_padded(tensor, {2, 3}, values, "<pad>");
  EXPECT_THAT(values, ElementsAre("a", "b", "<pad>", "c", "d", "<pad>"));
}

TEST(CommonShape, TakesTheLongestWhereTheLimitIsOpen) {
  const std::vector<Element> rows = {Element{Tensor::empty(f32, {2, 3, 1})}, Element{Tensor::empty(f32, {4, 3, 0})}};
  EXPECT_EQ(common_shape({kUnknown, 3, kUnknown}, rows, 0), (Shape{4, 3, 1}));
  EXPECT_EQ(common_shape({9, 3, kUnknown}, rows, 0), (Shape{9, 3, 1}));
  EXPECT_EQ(common_shape({kUnknown, 3}, {}, 0), (Shape{0, 3}));
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "headpond/base/status.h"

namespace headpond {
namespace {

using testing::ElementsAre;

Tensor counting(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(*shape.size()));
  std::iota(values.begin(), values.end(), 0.0F);
  return Tensor::from(std::span<const float>(values), shape);
}

TEST(Tensor, CopiesItsValuesAndKnowsThem) {
  const Tensor tensor = counting({2, 3});
  EXPECT_EQ(tensor.dtype(), f32);
  EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
  EXPECT_EQ(tensor.size(), 6);
  EXPECT_EQ(tensor.byte_size(), 24U);
  EXPECT_THAT(tensor.as<float>(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Tensor, ASmallOneLivesInline) {
  const Tensor tensor = Tensor::scalar(int64_t{-7});
  EXPECT_EQ(tensor.owner(), nullptr);
  EXPECT_EQ(tensor.rank(), 0);
  EXPECT_THAT(tensor.as<int64_t>(), ElementsAre(-7));
  const Tensor copy = tensor;
  EXPECT_NE(copy.data(), tensor.data());
  EXPECT_THAT(copy.as<int64_t>(), ElementsAre(-7));
}

TEST(Tensor, CopiesShareALargePayload) {
  Tensor tensor = counting({100});
  const Tensor copy = tensor;
  EXPECT_EQ(copy.data(), tensor.data());
  const Tensor moved = std::move(tensor);
  EXPECT_EQ(moved.data(), copy.data());
  EXPECT_EQ(tensor.size(), 0);  // NOLINT(bugprone-use-after-move): a moved-from tensor is an empty one.
  Tensor text = Tensor::scalar("longer than what lies in a tensor itself");
  (void)Tensor(std::move(text));
  EXPECT_EQ(text.byte_size(), 0U);  // NOLINT(bugprone-use-after-move)
}

TEST(Tensor, KeepsTheOwnerOfAViewAlive) {
  BufferPool pool;
  Tensor view;
  {
    BufferRef buffer = pool.allocate(64);
    std::memset(buffer->data(), 3, 64);
    const std::byte* const data = buffer->data();
    view = Tensor::view(data + 8, u8, {4}, std::move(buffer));
  }
  EXPECT_THAT(view.as<uint8_t>(), ElementsAre(3, 3, 3, 3));
  EXPECT_GT(pool.stats().bytes_in_use, 0);
  view = Tensor();
  EXPECT_EQ(pool.stats().bytes_in_use, 0);
}

TEST(Tensor, HoldsStringsOfAnyLength) {
  const std::vector<std::string_view> words = {"a", "", std::string_view("b\0c", 3), "a longer one than sixteen bytes"};
  const Tensor tensor = Tensor::from(words, {2, 2});
  EXPECT_EQ(tensor.dtype(), bytes);
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(tensor.bytes_at(i), words[static_cast<size_t>(i)]);
  EXPECT_EQ(tensor.byte_size(), 5 * 8 + 1 + 3 + 31U);
  EXPECT_EQ(tensor.row(1).bytes_at(0), words[2]);
  EXPECT_THROW(tensor.bytes_at(4), Exception);
  EXPECT_THROW(tensor.bytes_at(-1), Exception);
  EXPECT_EQ(Tensor::scalar("word").bytes_at(0), "word");
}

TEST(Tensor, RowsShareThePayload) {
  const Tensor tensor = counting({3, 5});
  const Tensor row = tensor.row(1);
  EXPECT_EQ(row.shape(), Shape{5});
  EXPECT_EQ(row.data(), tensor.data() + 20);
  EXPECT_THAT(row.as<float>(), ElementsAre(5, 6, 7, 8, 9));
  EXPECT_EQ(counting({3, 2}).row(2).owner(), nullptr) << "small rows are copied";
}

TEST(Tensor, HoldsManyAndHugeDimensions) {
  const Tensor deep = counting({1, 2, 1, 2, 1, 3});
  const Tensor copy = deep;
  EXPECT_EQ(copy.shape(), (Shape{1, 2, 1, 2, 1, 3}));
  EXPECT_TRUE(copy.has_shape(deep.shape()));
  const Tensor empty = Tensor::empty(f32, {int64_t{1} << 40, 0});
  EXPECT_EQ(empty.size(), 0);
  EXPECT_EQ(empty.dim(0), int64_t{1} << 40);
}

TEST(Tensor, AnEmptyOneIsValid) {
  const Tensor none = Tensor::from(std::span<const float>(), {0, 28});
  EXPECT_EQ(none.size(), 0);
  EXPECT_TRUE(none.as<float>().empty());
  EXPECT_EQ(Tensor::from(std::span<const std::string_view>(), {0}).size(), 0);
  EXPECT_EQ(Tensor().size(), 0);
}

TEST(Tensor, AnEmptyOneMayHaveDimensionsTooLargeToMultiply) {
  const Tensor tensor = Tensor::empty(u8, {int64_t{1} << 40, int64_t{1} << 40, 0});
  EXPECT_EQ(tensor.size(), 0);
  EXPECT_EQ(tensor.byte_size(), 0U);
}

TEST(Tensor, RefusesWrongUse) {
  const std::vector<float> three(3);
  EXPECT_THROW(Tensor::from(std::span<const float>(three), {2}), Exception);
  EXPECT_THROW(Tensor::from(std::span<const float>(three), {kUnknown}), Exception);
  EXPECT_THROW(Tensor::empty(f32, {int64_t{1} << 40, int64_t{1} << 40}), Exception);
  EXPECT_THROW(Tensor::empty(bytes, {1}), Exception);
  EXPECT_THROW(counting({2}).as<int32_t>(), Exception);
  EXPECT_THROW(counting({2}).bytes_at(0), Exception);
}

TEST(Tensor, TravelsAsPlainMemory) {
  BufferPool pool;
  Tensor tensor = Tensor::empty(u8, {100}, pool);
  const Tensor::Rep rep = std::move(tensor).release();
  EXPECT_GT(pool.stats().bytes_in_use, 0);
  { const Tensor back = Tensor::adopt(rep); }
  EXPECT_EQ(pool.stats().bytes_in_use, 0);
}

}  // namespace
}  // namespace headpond

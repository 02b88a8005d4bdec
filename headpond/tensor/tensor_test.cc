// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
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
  const Tensor deep = counting({2, 3, 4, 5});
  EXPECT_EQ(deep.row(1).shape(), (Shape{3, 4, 5}));
  EXPECT_EQ(deep.row(1).row(2).row(3).shape(), Shape{5});
  EXPECT_THAT(deep.row(1).row(2).row(3).as<float>(), ElementsAre(115, 116, 117, 118, 119));
}

TEST(Tensor, HoldsManyAndHugeDimensions) {
  const Tensor deep = counting({1, 2, 1, 2, 1, 3});
  const Tensor copy = deep;
  EXPECT_EQ(copy.shape(), (Shape{1, 2, 1, 2, 1, 3}));
  EXPECT_TRUE(copy.has_shape(deep.shape()));
  const Tensor empty = Tensor::empty(f32, {int64_t{1} << 40, 0});
  EXPECT_EQ(empty.size(), 0);
  EXPECT_EQ(empty.dim(0), int64_t{1} << 40);
  EXPECT_EQ(Tensor::empty(f32, {int64_t{1} << 40, int64_t{1} << 41, 0}).size(), 0);
  EXPECT_EQ(Tensor::empty(f32, {0, int64_t{3} << 40, int64_t{5} << 41}).byte_size(), 0U);
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

TEST(Tensor, IsMadeOfAVector) {
  EXPECT_THAT(Tensor::from(std::vector<float>{1, 2, 3}, {3}).as<float>(), ElementsAre(1, 2, 3));
  EXPECT_EQ(Tensor::from(std::vector<std::string>{"a", "bc"}, {2}).bytes_at(1), "bc");
  EXPECT_EQ(Tensor::from(std::vector<const char*>{"a", "bc"}, {2}).dtype(), bytes);
  EXPECT_THAT(Tensor::from(std::vector<bool>{true, false}, {2}).as<bool>(), ElementsAre(true, false));
  EXPECT_THROW(Tensor::from(std::vector<float>(3), {2}), Exception);
  EXPECT_EQ(Tensor::from<float>({}, {0}).size(), 0) << "an empty list is no ambiguity";
}

TEST(Tensor, GivesTheOneValueItHas) {
  EXPECT_EQ(Tensor::scalar(int64_t{7}).item<int64_t>(), 7);
  EXPECT_EQ(Tensor::from(std::vector<float>{2.5F}, {1, 1}).item<float>(), 2.5F);
  EXPECT_EQ(Tensor::scalar("text").item<std::string_view>(), "text");
  EXPECT_THROW((void)counting({2}).item<float>(), Exception);
  EXPECT_THROW((void)Tensor().item<uint8_t>(), Exception);
  EXPECT_THROW((void)Tensor::scalar(int64_t{7}).item<int32_t>(), Exception) << "no conversion";
  EXPECT_THROW((void)Tensor::scalar(int64_t{7}).item<std::string_view>(), Exception);
}

TEST(Tensor, IsOnlyWrittenWhileNobodyElseSeesIt) {
  Tensor tensor = counting({100});
  tensor.mutable_as<float>()[0] = 5;
  {
    const Tensor copy = tensor;
    EXPECT_THROW((void)tensor.mutable_data(), Exception);
    EXPECT_THROW((void)tensor.mutable_as<float>(), Exception);
    EXPECT_EQ(copy.as<float>()[0], 5);
  }
  EXPECT_NO_THROW((void)tensor.mutable_data()) << "the copy is gone";
  Tensor borrowed = Tensor::view(tensor.data(), f32, {100});
  EXPECT_THROW((void)borrowed.mutable_data(), Exception);
  std::vector<std::byte> place(400);
  Tensor lent = Tensor::writable_view(place.data(), f32, {100});
  EXPECT_EQ(lent.mutable_data(), place.data());
  Tensor small = counting({2});
  const Tensor copy = small;
  small.mutable_as<float>()[0] = 5;
  EXPECT_EQ(copy.as<float>()[0], 0) << "an inline payload is not shared";
  Tensor none = Tensor::view(nullptr, f32, {0, 3});
  EXPECT_NO_THROW((void)none.mutable_data()) << "nothing to write";
  EXPECT_NO_THROW((void)Tensor().mutable_data());
}

TEST(Tensor, ReleasesForeignMemoryOnce) {
  const std::vector<int32_t> memory = {1, 2, 3, 4, 5, 6};
  int released = 0;
  {
    Tensor tensor = Tensor::from_memory(memory.data(), i32, {2, 3}, [&] { ++released; });
    EXPECT_EQ(tensor.data(), reinterpret_cast<const std::byte*>(memory.data()));
    EXPECT_THROW((void)tensor.mutable_data(), Exception);
    Tensor row = tensor.row(1);
    const Tensor copy = tensor;
    tensor = Tensor();
    EXPECT_EQ(released, 0);
    EXPECT_THAT(copy.row(0).as<int32_t>(), ElementsAre(1, 2, 3));
  }
  EXPECT_EQ(released, 1);
  EXPECT_THROW((void)Tensor::from_memory(memory.data(), i32, {kUnknown}, [&] { ++released; }), Exception);
  EXPECT_EQ(released, 1) << "not called after a failure";
  EXPECT_NO_THROW((void)Tensor::from_memory(memory.data(), i32, {6}, nullptr));
}

TEST(Tensor, NamesTheFunctionThatReadsBytes) {
  try {
    (void)Tensor::scalar("text").as<uint8_t>();
    FAIL() << "not refused";
  } catch (const Exception& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("bytes_at(i)"));
  }
}

#ifndef NDEBUG
TEST(TensorDeathTest, ChecksWhatItRequiresInDebugBuilds) {
  EXPECT_DEATH((void)counting({2, 3}).dim(2), "axis");
  EXPECT_DEATH((void)counting({2, 3}).dim(-1), "axis");
  EXPECT_DEATH((void)counting({2, 3}).row(2), "dim\\(0\\)");
  EXPECT_DEATH((void)counting({}).row(0), "rank\\(\\) > 0");
  EXPECT_DEATH((void)Shape({2, 3})[2], "axis");
  EXPECT_DEATH((void)Shape().row(), "rank_ > 0");
}
#endif

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

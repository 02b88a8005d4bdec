// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/queue/queue_test_internal.h"
#include "headpond/queue/store/packing_internal.h"

namespace headpond::internal {
namespace {

TEST(Packing, KeepsAllOfAnElementThroughPlainMemory) {
  const Packing packing({f32, DType::bytes, f32, u8, i64}, {});
  EXPECT_FALSE(packing.is_plain());
  Element element{Tensor::scalar(2.5F), Tensor::scalar("text"), Tensor::empty(f32, {100}),
                  Tensor::empty(u8, {1, 1, 1, 1, 2}), Tensor::scalar(int64_t{7})};
  element.key = 5;
  element.provenance = {.source = 1, .record = 2};
  std::vector<std::byte> slot(packing.bytes());
  packing.pack(std::move(element), slot.data());
  const std::vector<std::byte> moved = slot;
  Element again;
  packing.unpack(moved.data(), again);
  ASSERT_EQ(again.size(), 5U);
  EXPECT_EQ(again[0].as<float>()[0], 2.5F);
  EXPECT_EQ(again[1].bytes_at(0), "text");
  EXPECT_EQ(again[3].shape(), (Shape{1, 1, 1, 1, 2}));
  EXPECT_EQ(again[4].as<int64_t>()[0], 7);
  EXPECT_EQ(again.key, 5U);
  EXPECT_EQ(again.provenance.record, 2U);
}

TEST(Packing, OfSmallTensorsOfKnownShapeIsTheirValues) {
  const Packing packing({u8, f32, i64}, {Shape{3}, Shape{2, 2}, Shape{}});
  ASSERT_TRUE(packing.is_plain());
  EXPECT_EQ(packing.bytes(), 16U + 4 + 16 + 8 + 4)
      << "3 bytes and 1 until the next may begin, likewise after the second";
  const float lent[] = {1, 2, 3, 4};
  const uint8_t bytes[] = {5, 6, 7};
  Element element{Tensor::from(std::span<const uint8_t>(bytes), {3}), Tensor::view(lent, f32, {2, 2}),
                  Tensor::scalar(int64_t{-8})};
  element.key = 9;
  element.provenance = {.source = 3, .record = 4};
  std::vector<std::byte> slot(packing.bytes());
  packing.pack(std::move(element), slot.data());
  Element again;
  packing.unpack(slot.data(), again);
  ASSERT_EQ(again.size(), 3U);
  EXPECT_EQ(again[0].as<uint8_t>()[2], 7);
  EXPECT_EQ(again[1].shape(), (Shape{2, 2}));
  EXPECT_EQ(again[1].as<float>()[3], 4);
  EXPECT_EQ(again[2].as<int64_t>()[0], -8);
  EXPECT_EQ(again.key, 9U);
  EXPECT_EQ(again.provenance.record, 4U);
}

TEST(Packing, IsOfTensorsWhereTheyAreLargeOrNotKnown) {
  EXPECT_TRUE(Packing({i64, i64}, {Shape{2}, Shape{0}}).is_plain());
  EXPECT_FALSE(Packing({i64}, {}).is_plain());
  EXPECT_FALSE(Packing({i64}, {Shape{3}}).is_plain());
  EXPECT_FALSE(Packing({i64, i64}, {Shape{}, Shape{3}}).is_plain());
  EXPECT_FALSE(Packing({i64}, {Shape{kUnknown}}).is_plain());
  EXPECT_FALSE(Packing({DType::bytes}, {Shape{}}).is_plain());
  EXPECT_FALSE(Packing({u8}, {Shape{1, 1, 1, 1, 1}}).is_plain());
  EXPECT_FALSE(Packing({u8}, {Shape{0, int64_t{1} << 40}}).is_plain());
}

TEST(Packing, OfRowsIsThatOfTheirElements) {
  const Packing packing({i64, u8}, {Shape{}, Shape{2}});
  const int64_t numbers[] = {10, 11, 12, 13};
  const uint8_t pairs[] = {0, 1, 2, 3, 4, 5, 6, 7};
  Element rows{Tensor::from(std::span<const int64_t>(numbers), {4}),
               Tensor::from(std::span<const uint8_t>(pairs), {4, 2})};
  rows.key = 77;
  constexpr size_t kStride = 64;
  std::vector<std::byte> slots(3 * kStride);
  packing.pack_rows(rows, 1, 3, slots.data(), kStride);
  std::vector<std::byte> side_by_side;
  for (size_t i = 0; i < 3; ++i) {
    Element element;
    packing.unpack(slots.data() + i * kStride, element);
    EXPECT_EQ(element[0].as<int64_t>()[0], static_cast<int64_t>(11 + i));
    EXPECT_EQ(element[1].as<uint8_t>()[1], 2 * i + 3);
    EXPECT_EQ(element.key, 77U);
    side_by_side.insert(side_by_side.end(), slots.data() + i * kStride, slots.data() + i * kStride + packing.bytes());
  }
  Element batch{Tensor::empty(i64, {3}), Tensor::empty(u8, {3, 2})};
  packing.unpack_rows(side_by_side.data(), packing.bytes(), 0, 1, batch);
  packing.unpack_rows(side_by_side.data() + packing.bytes(), packing.bytes(), 1, 2, batch);
  EXPECT_EQ(batch[0].as<int64_t>()[2], 13);
  EXPECT_EQ(batch[1].as<uint8_t>()[5], 7);
}

TEST(Packing, AnswersForTheFirstComponentWithoutUnpacking) {
  const int64_t lent = -7;
  for (const std::vector<Shape>& shapes : {std::vector<Shape>{}, std::vector<Shape>{Shape{}, Shape{}}}) {
    const Packing packing({i64, f32}, shapes);
    for (const Tensor& first : {Tensor::scalar(lent), Tensor::view(&lent, i64, {})}) {
      std::vector<std::byte> slot(packing.bytes());
      packing.pack(Element{first, Tensor::scalar(2.5F)}, slot.data());
      EXPECT_EQ(packing.first_value(slot.data()), -7);
      Element again;
      packing.unpack(slot.data(), again);
    }
  }
}

TEST(Packing, OneTensorFillsOneCacheLine) { EXPECT_EQ(Packing({i64}, {}).bytes(), 64U); }

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/growing_array.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace headpond {
namespace {

TEST(GrowingArray, KeepsItsValuesWhenItGrowsShrinksAndMoves) {
  GrowingArray<uint64_t> array;
  EXPECT_TRUE(array.empty());
  EXPECT_TRUE(array.values().empty());
  array.shrink_to_fit();
  for (uint64_t i = 0; i < 100'000; ++i) array.push_back(i * i);
  array.shrink_to_fit();
  EXPECT_EQ(array.room(), 100'000U);
  GrowingArray<uint64_t> moved = std::move(array);
  array = GrowingArray<uint64_t>();
  EXPECT_EQ(array.size(), 0U);
  for (uint64_t i = 0; i < 100'000; ++i) ASSERT_EQ(moved[i], i * i);
  moved.resize(2);
  moved.shrink_to_fit();
  EXPECT_EQ(moved.values().back(), 1U);
  moved.resize(0);
  moved.shrink_to_fit();
  moved.push_back(7);
  EXPECT_EQ(moved.values().front(), 7U);
}

TEST(GrowingArray, NeverHasRoomForMoreThanAllowed) {
  for (const size_t most : {1U, 63U, 64U, 65U, 100U, 128U, 1000U}) {
    GrowingArray<char> array;
    for (size_t i = 0; i < most; ++i) {
      array.push_back('x', most);
      ASSERT_LE(array.room(), most);
    }
    EXPECT_EQ(array.size(), most);
  }
}

TEST(GrowingArray, WithoutMemoryStaysAsItWas) {
  GrowingArray<uint64_t> array;
  array.push_back(3);
  EXPECT_THROW(array.resize(SIZE_MAX / 4), std::bad_alloc);
  EXPECT_THROW(array.reserve(SIZE_MAX), std::bad_alloc) << "the number of bytes overflows";
  EXPECT_EQ(array.values().back(), 3U);
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/codec/image/baseline/entropy_internal.h"

namespace headpond::jpeg_internal {
namespace {

std::vector<std::byte> data_of(std::initializer_list<int> values) {
  std::vector<std::byte> data;
  for (const int value : values) data.push_back(static_cast<std::byte>(value));
  return data;
}

uint32_t take(ScanBits& bits, int count) {
  bits.fill();
  const uint32_t value = bits.peek(count);
  bits.skip(count);
  return value;
}

TEST(ScanBits, AnEscapedByteIsOnesAndAMarkerEndsTheData) {
  const auto data = data_of({0x12, 0xff, 0x00, 0x34, 0xff, 0xd0, 0x56, 0xff, 0xd9});
  ScanBits bits(data);
  EXPECT_EQ(take(bits, 4), 1U);
  EXPECT_EQ(take(bits, 16), 0x2ff3U);
  EXPECT_FALSE(bits.is_past_end());
  EXPECT_TRUE(bits.take_marker(0xd0));
  EXPECT_FALSE(bits.take_marker(0xd9));
  EXPECT_EQ(take(bits, 8), 0x56U);
  EXPECT_FALSE(bits.is_past_end());
  EXPECT_EQ(take(bits, 1), 0U);
  EXPECT_TRUE(bits.is_past_end());
  EXPECT_FALSE(bits.take_marker(0xd9));
}

// With many escaped bytes and a marker: the position is that of the file's bytes, and the same bits follow it.
TEST(ScanBits, GoesOnAtAPositionThatItTold) {
  std::vector<std::byte> data;
  for (int i = 0; i < 120; ++i) {
    data.push_back(static_cast<std::byte>(i % 3 == 0 ? 0xff : i * 37));
    if (data.back() == std::byte{0xff}) data.push_back(std::byte{0});
    if (i == 60) data.insert(data.end(), {std::byte{0xff}, std::byte{0xd0}});
  }
  ScanBits bits(data), other(data);
  uint64_t last = 0;
  for (int taken = 0; taken < 120 * 8; taken += 5) {
    const uint64_t at = bits.position();
    EXPECT_GE(at, last);
    EXPECT_LE(at, 8 * data.size());
    last = at;
    other.go_to(at);
    EXPECT_EQ(other.position(), at);
    if (taken + 5 > 61 * 8) break;
    EXPECT_EQ(take(other, 5), take(bits, 5)) << taken;
  }
  take(bits, 3);
  EXPECT_EQ(bits.position() % 8, 0U);
  other.go_to(bits.position());
  EXPECT_TRUE(bits.take_marker(0xd0));
  EXPECT_TRUE(other.take_marker(0xd0));
  EXPECT_EQ(bits.position(), other.position());
  EXPECT_EQ(take(other, 16), take(bits, 16));
}

TEST(ScanBits, EachWayOfReadingGivesTheSameBits) {
  std::vector<std::byte> data;
  for (int i = 0; i < 200; ++i) {
    data.push_back(static_cast<std::byte>(i * 37));
    if (data.back() == std::byte{0xff}) data.push_back(std::byte{0});
  }
  ScanBits one(data), many(data);
  for (int i = 0; i < 1'600; i += 16) {
    uint32_t single = 0;
    for (int k = 0; k < 16; ++k) single = 2 * single + take(one, 1);
    EXPECT_EQ(take(many, 16), single) << i;
  }
  EXPECT_FALSE(one.is_past_end());
  EXPECT_FALSE(many.is_past_end());
}

}  // namespace
}  // namespace headpond::jpeg_internal

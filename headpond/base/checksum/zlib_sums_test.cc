// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/checksum/zlib_sums.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "headpond/base/checksum/upper_halves_test_internal.h"
#include "headpond/base/random.h"

namespace headpond {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// By the definitions.
uint32_t crc_by_bits(std::span<const std::byte> data) {
  uint32_t state = ~0U;
  for (const std::byte byte : data) {
    state ^= static_cast<uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? 0xedb88320U : 0U);
  }
  return ~state;
}
uint32_t adler_by_sums(std::span<const std::byte> data) {
  uint32_t a = 1, b = 0;
  for (const std::byte byte : data) {
    a = (a + static_cast<uint32_t>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

TEST(ZlibSums, OfNothingAndOfTheCheckString) {
  EXPECT_EQ(crc32_extend(0, {}), 0U);
  EXPECT_EQ(adler32_extend(1, {}), 1U);
  EXPECT_EQ(crc32_extend(0, bytes_of("123456789")), 0xcbf43926U);
  EXPECT_EQ(adler32_extend(1, bytes_of("Wikipedia")), 0x11e60398U);
}

TEST(ZlibSums, AgreeWithTheirDefinitionsAtEveryLengthAndInParts) {
  Random random(1);
  std::vector<std::byte> bytes(70'000, std::byte{0xff});
  for (size_t i = 0; i < 700; ++i) bytes[i] = static_cast<std::byte>(random.u32());
  const auto all = std::span<const std::byte>(bytes);
  for (size_t size = 0; size < 600; ++size) {
    const auto part = all.subspan(size % 19, size);
    ASSERT_EQ(crc32_extend(0, part), crc_by_bits(part)) << size;
    ASSERT_EQ(adler32_extend(1, part), adler_by_sums(part)) << size;
  }
  for (const size_t cut : {size_t{0}, size_t{1}, size_t{333}, size_t{5552}, size_t{65'536}, all.size()}) {
    EXPECT_EQ(crc32_extend(crc32_extend(0, all.first(cut)), all.subspan(cut)), crc_by_bits(all));
    EXPECT_EQ(adler32_extend(adler32_extend(1, all.first(cut)), all.subspan(cut)), adler_by_sums(all));
  }
}

#if defined(__x86_64__)
TEST(ZlibSums, LeaveTheUpperVectorHalvesClean) {
  if (!test::can_ask_for_dirty_halves()) GTEST_SKIP() << "this processor does not tell which halves are in use";
  const std::vector<std::byte> bytes(4096);
  test::make_halves_dirty();
  EXPECT_NE(test::dirty_halves(), 0U) << "control: upper halves in use must be detected";
  crc32_extend(0, bytes);
  EXPECT_EQ(test::dirty_halves(), 0U);
  test::make_halves_dirty();
  adler32_extend(1, bytes);
  EXPECT_EQ(test::dirty_halves(), 0U);
}
#endif

}  // namespace
}  // namespace headpond

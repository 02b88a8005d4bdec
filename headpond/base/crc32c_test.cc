// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/crc32c.h"

#include <gtest/gtest.h>
#include <isa-l/crc.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "headpond/base/checksum/upper_halves.h"
#include "headpond/base/checksum/upper_halves_test_internal.h"
#include "headpond/base/crc32c_internal.h"
#include "headpond/base/random.h"

namespace headpond {
namespace {

using Bytes = std::vector<std::byte>;
using crc32c_internal::by_folding;
using crc32c_internal::by_instruction;
using crc32c_internal::by_table;

Bytes random_bytes(size_t size, uint64_t seed) {
  Random random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.u32());
  return bytes;
}

std::string counted(int first, int step) {
  std::string text;
  for (int i = 0; i < 32; ++i) text.push_back(static_cast<char>(first + step * i));
  return text;
}

TEST(Crc32c, GivesTheAnswersOfRfc3720) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(crc32c(counted(0, 1)), 0x46dd794eU);
  EXPECT_EQ(crc32c(counted(31, -1)), 0x113fdb5cU);
  const std::array<uint8_t, 48> command{0x01, 0xc0, 0, 0, 0, 0, 0,    0, 0,    0, 0, 0,    0, 0, 0, 0,
                                        0x14, 0,    0, 0, 0, 0, 0x04, 0, 0,    0, 0, 0x14, 0, 0, 0, 0x18,
                                        0x28, 0,    0, 0, 0, 0, 0,    0, 0x02, 0, 0, 0,    0, 0, 0, 0};
  EXPECT_EQ(crc32c(std::as_bytes(std::span(command))), 0xd9963a56U);
}

TEST(Crc32c, OfNothingIsZeroAndOfTheCheckStringIsItsCheckValue) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
}

TEST(Crc32c, EveryWayAgreesWithTheTableAtEveryLengthAndAlignment) {
  const Bytes bytes = random_bytes(400, 1);
  for (size_t start = 0; start < 17; ++start)
    for (size_t size = 0; size <= 300; ++size) {
      const auto part = std::span(bytes).subspan(start, size);
      const uint32_t expected = by_table(0x12345678, part);
      ASSERT_EQ(by_folding(0x12345678, part), expected) << start << " " << size;
      if (crc32c_internal::has_instruction()) {
        ASSERT_EQ(by_instruction(0x12345678, part), expected) << start << " " << size;
      }
      ASSERT_EQ(crc32c(part), ~by_table(~0U, part)) << start << " " << size;
    }
}

TEST(Crc32c, EveryWayAgreesWithTheTableOnLongInput) {
  const Bytes bytes = random_bytes((1 << 20) + 64, 2);
  Random random(3);
  for (int round = 0; round < 40; ++round) {
    const size_t start = random.below(64);
    const auto part = std::span(bytes).subspan(start, random.below(bytes.size() - start));
    const uint32_t expected = by_table(~0U, part);
    ASSERT_EQ(by_folding(~0U, part), expected);
    if (crc32c_internal::has_instruction()) {
      ASSERT_EQ(by_instruction(~0U, part), expected);
    }
  }
}

TEST(Crc32c, ExtendsOverAnyCut) {
  const Bytes bytes = random_bytes(300, 4);
  const uint32_t whole = crc32c(bytes);
  for (size_t cut = 0; cut <= bytes.size(); ++cut)
    EXPECT_EQ(crc32c_extend(crc32c(std::span(bytes).first(cut)), std::span(bytes).subspan(cut)), whole);
}

TEST(Crc32c, NoticesEveryFlippedBit) {
  Bytes bytes = random_bytes(90, 5);
  const uint32_t good = crc32c(bytes);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_NE(crc32c(bytes), good);
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
  }
  EXPECT_EQ(crc32c(bytes), good);
}

TEST(Crc32c, ControlTheOtherCommonPolynomialGivesAnotherAnswer) {
  const std::string text = "123456789";
  const auto* data = reinterpret_cast<const unsigned char*>(text.data());
  EXPECT_EQ(crc32_gzip_refl(0, data, text.size()), 0xcbf43926U);
  EXPECT_NE(crc32c(text), 0xcbf43926U);
}

TEST(MaskedCrc32c, RotatesAndAddsAndComesBack) {
  EXPECT_EQ(mask_crc32c(0), 0xa282ead8U);
  EXPECT_EQ(mask_crc32c(0x00008000), 0xa282ead9U);
  EXPECT_EQ(mask_crc32c(1), 0xa282ead8U + 0x20000U);
  EXPECT_EQ(masked_crc32c("123456789"), mask_crc32c(0xe3069283U));
  Random random(6);
  for (int i = 0; i < 1000; ++i) {
    const uint32_t crc = random.u32();
    EXPECT_EQ(unmask_crc32c(mask_crc32c(crc)), crc);
    EXPECT_NE(mask_crc32c(crc), crc);
  }
}

TEST(MaskedCrc32c, InLineAgreesAtEveryLengthAndAlignment) {
  const Bytes bytes = random_bytes(400, 5);
  for (size_t first = 0; first < 8; ++first) {
    for (size_t size = 0; first + size <= bytes.size(); ++size) {
      const auto part = std::span(bytes).subspan(first, size);
      ASSERT_EQ(masked_crc32c_in_line(part), mask_crc32c(~by_table(~0U, part))) << size << " bytes from " << first;
    }
  }
}

TEST(MaskedCrc32c, OfANumberIsThatOfItsBytesTheLowestFirst) {
  const std::array<std::byte, 8> bytes = {std::byte{0xef}, std::byte{0xcd}, std::byte{0xab}, std::byte{0x89},
                                          std::byte{0x67}, std::byte{0x45}, std::byte{0x23}, std::byte{0x01}};
  EXPECT_EQ(masked_crc32c_u64(0x0123456789abcdef), masked_crc32c(std::span<const std::byte>(bytes)));
  EXPECT_EQ(masked_crc32c_u64(0), masked_crc32c(std::string(8, '\0')));
}

#if defined(__x86_64__)
TEST(Crc32c, LeavesTheUpperVectorHalvesClean) {
  if (!test::can_ask_for_dirty_halves())
    GTEST_SKIP() << "this processor does not tell which halves are in use (no AVX, or no xgetbv with ecx 1)";
  Bytes bytes = random_bytes(4096, 7);
  test::make_halves_dirty();
  EXPECT_NE(test::dirty_halves(), 0U) << "control: upper halves in use must be detected";
  clear_upper_halves();
  by_folding(0, bytes);
  EXPECT_EQ(test::dirty_halves(), 0U);
}
#endif

}  // namespace
}  // namespace headpond

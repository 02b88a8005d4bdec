// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "headpond/io/text/utf8_internal.h"

namespace headpond::internal {
namespace {

std::string encoded(unsigned character) {
  const auto six = [&](unsigned shift) { return static_cast<char>(0x80 | (character >> shift & 0x3f)); };
  if (character < 0x80) return {static_cast<char>(character)};
  if (character < 0x800) return {static_cast<char>(0xc0 | character >> 6), six(0)};
  if (character < 0x10000) return {static_cast<char>(0xe0 | character >> 12), six(6), six(0)};
  return {static_cast<char>(0xf0 | character >> 18), six(12), six(6), six(0)};
}

TEST(Utf8, IsEveryCharacterButSurrogatesAndNothingBeyondTheLast) {
  for (unsigned character = 0; character < 0x110100; ++character) {
    const bool is_surrogate = character >= 0xd800 && character < 0xe000;
    const bool is_character = !is_surrogate && character < 0x110000;
    const std::string bytes = encoded(character);
    ASSERT_EQ(character_bytes(bytes + "x"), is_character ? bytes.size() : 0) << character;
    ASSERT_EQ(is_utf8("x" + bytes), is_character) << character;
  }
}

TEST(Utf8, IsNoLongerFormNorACutOne) {
  for (const char* bytes : {"\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xf8\x88\x80\x80\x80", "\x80",
                            "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3x", "\xe2\x82x", "\xff"}) {
    EXPECT_FALSE(is_utf8(bytes)) << bytes;
    EXPECT_EQ(character_bytes(bytes), 0U) << bytes;
  }
  EXPECT_TRUE(is_utf8(""));
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headpond/codec/image/png/png_codes_internal.h"

namespace headpond::png_internal {
namespace {

using Lengths = std::vector<uint8_t>;

// Symbol i means i.
std::vector<uint32_t> meanings(size_t count) {
  std::vector<uint32_t> all(count);
  for (uint32_t i = 0; i < count; ++i) all[i] = i << 16;
  return all;
}

bool builds(const Lengths& lengths, bool may_be_small) {
  CodeTable<11, 16 * 143> table;
  return table.build(lengths, meanings(lengths.size()), may_be_small);
}

// The code of `symbol` by the rules of RFC 1951, its first bit lowest.
uint64_t code_of(const Lengths& lengths, size_t symbol) {
  uint64_t code = 0;
  for (uint8_t length = 1; length <= lengths[symbol]; ++length) {
    code <<= 1;
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] == length && (length < lengths[symbol] || i < symbol)) ++code;
    }
  }
  uint64_t bits = 0;
  for (uint8_t i = 0; i < lengths[symbol]; ++i) bits |= (code >> i & 1) << (lengths[symbol] - 1 - i);
  return bits;
}

template <class Table>
void expect_symbols(const Lengths& lengths) {
  Table table;
  ASSERT_TRUE(table.build(lengths, meanings(lengths.size()), false));
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == 0) continue;
    CodeBits in;
    in.bits = ~uint64_t{0} << lengths[i] | code_of(lengths, i);
    in.count = 63;
    uint32_t entry = table.first(in);
    if ((entry & CodeEntry::kSubtable) != 0) entry = table.second(in, entry);
    EXPECT_EQ(entry >> 16, i);
    in.drop(CodeEntry::all_bits(entry));
    EXPECT_EQ(in.count, 63U - lengths[i]);
  }
}

TEST(PngCodes, EverySymbolIsFoundByItsCode) {
  expect_symbols<CodeTable<7, 0>>({2, 2, 3, 3, 0, 3, 0, 3});
  expect_symbols<CodeTable<8, 128 * 15>>(Lengths(32, 5));
  Lengths falling;  // 1, 2, 3 ... 15, 15.
  for (uint8_t i = 1; i <= 15; ++i) falling.push_back(i);
  falling.push_back(15);
  expect_symbols<CodeTable<11, 16 * 143>>(falling);
  expect_symbols<CodeTable<8, 128 * 15>>(falling);
  Lengths many(286, 15);  // As many beginnings with a further table as there can be: pairs of 15 bits...
  uint32_t left = (1U << 15) - 286;
  for (size_t i = 0; left > 0; ++i) {  // ...where codes that become shorter fill the rest.
    while (many[i] > 1 && (uint32_t{1} << (15 - many[i])) <= left) left -= 1U << (15 - many[i]--);
  }
  expect_symbols<CodeTable<11, 16 * 143>>(many);
}

TEST(PngCodes, OnlyCompleteCodesPassButForNoneAndOneOfABit) {
  EXPECT_TRUE(builds({1, 1}, false));
  EXPECT_TRUE(builds({0, 2, 2, 1}, false));
  EXPECT_FALSE(builds({1, 1, 1}, true)) << "too many codes";
  EXPECT_FALSE(builds({1, 2, 2, 15}, true));
  EXPECT_FALSE(builds({1, 2}, true)) << "too few codes";
  EXPECT_FALSE(builds({2}, true));
  EXPECT_FALSE(builds({15, 15}, true));
  EXPECT_TRUE(builds({0, 1, 0}, true));
  EXPECT_FALSE(builds({0, 1, 0}, false));
  EXPECT_TRUE(builds({0, 0}, true));
  EXPECT_FALSE(builds({0, 0}, false));
}

TEST(PngCodes, BitsComeFromTheLowestOnAndEndInZerosThatAreNoticed) {
  const std::vector<uint8_t> bytes = {0xa5, 0x0f, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb};
  CodeBits in;
  in.at = bytes.data();
  in.end = in.at + bytes.size();
  in.refill();
  EXPECT_EQ(in.take(4), 5U);
  EXPECT_EQ(in.take(8), 0xfaU);
  ASSERT_TRUE(in.align());
  EXPECT_EQ(in.at, bytes.data() + 2);
  for (size_t i = 2; i < bytes.size(); ++i) {
    in.refill();
    EXPECT_EQ(in.take(8), bytes[i]);
  }
  EXPECT_FALSE(in.is_beyond());
  in.refill();
  EXPECT_FALSE(in.is_beyond());
  EXPECT_EQ(in.take(1), 0U);
  EXPECT_TRUE(in.is_beyond());
  EXPECT_FALSE(in.align());
}

}  // namespace
}  // namespace headpond::png_internal

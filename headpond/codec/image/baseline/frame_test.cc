// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>

#include "headpond/codec/image/baseline/frame_internal.h"

namespace headpond::jpeg_internal {
namespace {

// Codes 0, 10 and 110 of the symbols 0x00, 0x12 and 0x0b.
struct Codes {
  std::array<std::byte, 16> counts = {std::byte{1}, std::byte{1}, std::byte{1}};
  std::array<std::byte, 3> values = {std::byte{0}, std::byte{0x12}, std::byte{0x0b}};
};

// Of bits that begin with these 11.
uint32_t entry_of(const HuffmanTable& table, uint32_t bits) {
  return table.look[bits << (HuffmanTable::kLookBits - 11)];
}

TEST(HuffmanTable, HoldsSymbolsAndTheValuesThatFit) {
  HuffmanTable table;
  ASSERT_TRUE(table.make(Codes().counts, Codes().values, false));
  EXPECT_EQ(entry_of(table, 0b01111111111), 0x0001U);
  EXPECT_EQ(entry_of(table, 0b10110000000), 3U << 16 | 1U << 8 | 4U);
  EXPECT_EQ(entry_of(table, 0b10000000000), uint32_t{0xfffd} << 16 | 1U << 8 | 4U);
  EXPECT_EQ(entry_of(table, 0b11000000000), 0x0b03U);
  EXPECT_EQ(entry_of(table, 0b11100000000), 0U);
}

struct TakenPair {
  int bits;
  ValuePair pair;
  friend bool operator==(const TakenPair&, const TakenPair&) = default;
};

// Of kLookBits bits.
TakenPair pair_at(const HuffmanTable& table, uint32_t look) {
  return {table.pairs.bits[look], table.pairs.values[look]};
}

// Of bits that begin with these 11; those after them are 0.
TakenPair pair_of(const HuffmanTable& table, uint32_t bits) {
  return pair_at(table, bits << (HuffmanTable::kLookBits - 11));
}

TEST(HuffmanTable, HasTheFirstTwoValuesAndTheEndAfterThem) {
  HuffmanTable table;
  ASSERT_TRUE(table.make(Codes().counts, Codes().values, false));
  table.make_pairs();
  constexpr uint8_t kEnd = ValuePair::kEnd;
  const TakenPair nothing = {0, {.advance = ValuePair::kNone}};
  EXPECT_EQ(pair_of(table, 0b01111111111), (TakenPair{1, {kEnd + 1, 0, 0, 0}})) << "0";
  EXPECT_EQ(pair_of(table, 0b10110111111), (TakenPair{5, {2 + kEnd, 1, 3, 0}})) << "10 11, 0";
  EXPECT_EQ(pair_of(table, 0b10111000101), (TakenPair{8, {4, 1, 3, -3}})) << "10 11, 10 00, 10 1 and no more";
  EXPECT_EQ(pair_of(table, 0b10111000010), (TakenPair{9, {4 + kEnd, 1, 3, -3}})) << "10 11, 10 00, 0";
  EXPECT_EQ(pair_of(table, 0b11000000000), nothing) << "a value of 11 bits";
  EXPECT_EQ(pair_of(table, 0b11100000000), nothing) << "no code";
  EXPECT_EQ(pair_of(table, 0b10111100000), (TakenPair{4, {2, 1, 3, 0}}));
  Codes codes;
  codes.values[1] = std::byte{0xf0};
  ASSERT_TRUE(table.make(codes.counts, codes.values, false));
  EXPECT_FALSE(table.has_pairs);
  EXPECT_EQ(table.pairs_for(5'000)->values[0], nothing.pair) << "few bytes";
  EXPECT_EQ(table.pairs_for(5'000), &table.pairs) << "together they are not";
  table.make_pairs();
  EXPECT_EQ(pair_of(table, 0b10011111111), (TakenPair{3, {16 + kEnd, 15, 0, 0}}));
  EXPECT_EQ(pair_of(table, 0b10100111111), (TakenPair{5, {32 + kEnd, 15, 0, 0}}));
}

TEST(HuffmanTable, HasTheSymbolsThatCanBePassedOver) {
  HuffmanTable table;
  ASSERT_TRUE(table.make(Codes().counts, Codes().values, false));
  table.need_skips();
  EXPECT_FALSE(table.has_skips) << "few bytes";
  EXPECT_EQ(table.pairs_for(10)->skips[0], SkippedSymbols());
  table.make_skips();
  constexpr uint8_t kEnd = SkippedSymbols::kEnd;
  const auto& skips = table.pairs.skips;
  EXPECT_EQ(skips[0b01111111111], (SkippedSymbols{1, kEnd})) << "0";
  EXPECT_EQ(skips[0b10110111111], (SkippedSymbols{5, 2 + kEnd})) << "10 11, 0";
  EXPECT_EQ(skips[0b10111000101], (SkippedSymbols{12, 6})) << "10 11, 10 00, 10 1 and a bit more";
  EXPECT_EQ(skips[0b10111000010], (SkippedSymbols{9, 4 + kEnd})) << "10 11, 10 00, 0";
  EXPECT_EQ(skips[0b11000000000], (SkippedSymbols{14, 1})) << "a value of 11 bits";
  EXPECT_EQ(skips[0b10111100000], (SkippedSymbols{4, 2})) << "it would be the fifth to the eighteenth bit";
  EXPECT_EQ(skips[0b11100000000], SkippedSymbols()) << "no code";
  Codes codes;
  codes.values[1] = std::byte{0xf0};
  ASSERT_TRUE(table.make(codes.counts, codes.values, false));
  table.make_skips();
  EXPECT_EQ(skips[0b10101001111], (SkippedSymbols{7, 48 + kEnd}));
  EXPECT_EQ(skips[0b10101010011], (SkippedSymbols{6, 48})) << "a block has no 64 places after the first";
}

TEST(HuffmanTable, HasSymbolsToPassOverOnceTheyAreNeededAndAnewForOtherCodes) {
  HuffmanTable table;
  Codes codes;
  for (const auto& [symbol, places] : {std::pair{0x12, 2}, std::pair{0x22, 3}}) {
    codes.values[1] = static_cast<std::byte>(symbol);
    ASSERT_TRUE(table.make(codes.counts, codes.values, false));
    const HuffmanTable::Pairs* const pairs = table.pairs_for(10'000);
    EXPECT_FALSE(table.has_skips);
    table.need_skips();
    EXPECT_TRUE(table.has_skips);
    EXPECT_EQ(pairs->skips[0b10111100000], (SkippedSymbols{4, static_cast<uint8_t>(places)}));
  }
}

TEST(HuffmanTable, HasNoPairOfValuesThatDontFit) {
  HuffmanTable table;
  Codes codes;
  codes.values[1] = std::byte{0x08};
  codes.values[2] = std::byte{0x07};
  ASSERT_TRUE(table.make(codes.counts, codes.values, false));
  table.make_pairs();
  EXPECT_EQ(pair_of(table, 0b10100000000), (TakenPair{0, {.advance = ValuePair::kNone}})) << "a first value of 8 bits";
  EXPECT_EQ(pair_of(table, 0b11011111111), (TakenPair{10, {1, 0, 127, 0}})) << "one of 7";
  codes.values[1] = std::byte{0x01};
  ASSERT_TRUE(table.make(codes.counts, codes.values, false));
  table.make_pairs();
  EXPECT_EQ(pair_at(table, 0b1011101111111), (TakenPair{13, {2, 0, 1, 127}})) << "a second one of 7";
  EXPECT_EQ(pair_at(table, 0b1011100000000), (TakenPair{13, {2, 0, 1, -127}}));
  codes.values = {std::byte{0x01}, std::byte{0x08}, std::byte{0x00}};
  ASSERT_TRUE(table.make(codes.counts, codes.values, false));
  table.make_pairs();
  EXPECT_EQ(pair_at(table, 0b0110100000000), (TakenPair{2, {1, 0, 1, 0}})) << "of 8";
}

// Of bits that begin with these 12.
int16_t difference_of(const HuffmanTable& table, uint32_t bits) {
  return table.differences[bits << (HuffmanTable::kDifferenceBits - 12)];
}

TEST(HuffmanTable, HasTheDifferencesThatFit) {
  HuffmanTable table;
  Codes codes;
  codes.values = {std::byte{0}, std::byte{0x0a}, std::byte{0x0b}};
  ASSERT_TRUE(table.make(codes.counts, codes.values, true));
  EXPECT_EQ(difference_of(table, 0b011111111111), 1) << "no difference, 1 bit";
  EXPECT_EQ(difference_of(table, 0b101111111111), 1023 * 16 + 12);
  EXPECT_EQ(difference_of(table, 0b100000000000), -1023 * 16 + 12);
  EXPECT_EQ(difference_of(table, 0b110000000000), 0) << "11 bits after the code";
  EXPECT_EQ(difference_of(table, 0b111000000000), 0) << "no code";
  codes.values[0] = std::byte{0x0b};
  codes.values[2] = std::byte{0};
  ASSERT_TRUE(table.make(codes.counts, codes.values, true));
  EXPECT_EQ(difference_of(table, 0b011111111111), 2047 * 16 + 12);
  EXPECT_EQ(difference_of(table, 0b000000000000), -2047 * 16 + 12);
  EXPECT_EQ(difference_of(table, 0b110111111111), 3);
}

TEST(HuffmanTable, IsTheSameAsOneFromTheSameSymbols) {
  HuffmanTable table, other;
  table.is_made = other.is_made = false;
  Codes codes;
  ASSERT_TRUE(table.make(codes.counts, codes.values, false));
  EXPECT_FALSE(table.is_same(other));
  ASSERT_TRUE(other.make(codes.counts, codes.values, false));
  EXPECT_TRUE(table.is_same(other));
  codes.values[2] = std::byte{0x0a};
  ASSERT_TRUE(other.make(codes.counts, codes.values, false));
  EXPECT_FALSE(table.is_same(other));
}

TEST(HuffmanTable, MadeAgainForgetsWhatItWas) {
  HuffmanTable table, other;
  Codes codes;
  ASSERT_TRUE(table.make(codes.counts, codes.values, false));
  codes.values[1] = std::byte{0x03};
  ASSERT_TRUE(table.make(codes.counts, codes.values, false));
  ASSERT_TRUE(other.make(codes.counts, codes.values, false));
  EXPECT_EQ(table.look, other.look);
  EXPECT_EQ(entry_of(table, 0b10110000000), 6U << 16 | 5U) << "10 of a size of 3, 110";
  table.is_set = false;
  ASSERT_TRUE(table.make(codes.counts, codes.values, false));
  EXPECT_TRUE(table.is_set);
  ASSERT_TRUE(table.make(codes.counts, codes.values, true)) << "three symbols below 16";
  EXPECT_EQ(entry_of(table, 0b10000000000), uint32_t{0xfff9} << 16 | 5U);
  codes.values[1] = std::byte{0x12};
  EXPECT_FALSE(table.make(codes.counts, codes.values, true));
  codes.values[1] = std::byte{0x03};
  ASSERT_TRUE(table.make(codes.counts, codes.values, true)) << "after one that was refused";
  EXPECT_EQ(table.look, other.look);
}

TEST(HuffmanTable, RefusesTooManyCodesAndLargeDifferences) {
  HuffmanTable table;
  EXPECT_FALSE(table.make(Codes().counts, Codes().values, true));
  Codes codes;
  codes.counts[0] = std::byte{2};
  EXPECT_FALSE(table.make(codes.counts, codes.values, false));
}

TEST(JpegFrame, NothingOfAnotherFileIsRead) {
  Frame frame;
  EXPECT_FALSE(read_frame({}, frame));
  const std::array<std::byte, 4> start = {std::byte{0xff}, std::byte{0xd8}, std::byte{0xff}, std::byte{0xda}};
  for (size_t size = 0; size <= start.size(); ++size) EXPECT_FALSE(read_frame(std::span(start).first(size), frame));
}

}  // namespace
}  // namespace headpond::jpeg_internal

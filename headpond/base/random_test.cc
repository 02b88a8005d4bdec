// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/random.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace headpond {
namespace {

using Words = std::array<uint32_t, 4>;

// Random123's published vectors; there, counter and key are listed word by word.
TEST(Philox, GivesThePublishedKnownAnswers) {
  EXPECT_EQ(philox({0}, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0ULL}, ~0ULL, ~0ULL), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x299f31d0a4093822}, 0x0370734413198a2e, 0x85a308d3243f6a88),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, ControlSwappedCounterHalvesDoNotGiveTheKnownAnswer) {
  EXPECT_NE(philox({0x299f31d0a4093822}, 0x85a308d3243f6a88, 0x0370734413198a2e),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomKey, DependsOnEveryArgumentAlone) {
  std::set<uint64_t> keys;
  for (uint64_t seed = 0; seed < 8; ++seed)
    for (const char* op : {"", "a", "b", "ab", "shuffle", "random_flip"})
      for (uint32_t occurrence = 0; occurrence < 8; ++occurrence)
        for (uint64_t epoch = 0; epoch < 8; ++epoch) keys.insert(random_key(seed, op, occurrence, epoch).value);
  EXPECT_EQ(keys.size(), 8U * 6 * 8 * 8);
}

// These values are promised: saved states and published runs depend on them.
TEST(RandomKey, KeepsItsValuesForEver) {
  EXPECT_EQ(mix(0, 0), 0x48218226ff3cd4bfU);
  EXPECT_EQ(mix(1, 2), 0x081a5c1377856b73U);
  EXPECT_EQ(random_key(0, "", 0, 0).value, 0x873fb56df65e48a4U);
  EXPECT_EQ(random_key(7, "shuffle", 1, 3).value, 0x1e8a2925bd14bae9U);
}

TEST(Mix, IsNotSymmetricAndMovesHalfOfTheBits) {
  EXPECT_NE(mix(1, 2), mix(2, 1));
  double flipped = 0;
  for (int bit = 0; bit < 64; ++bit) {
    flipped += std::popcount(mix(3, 5) ^ mix(3 ^ 1ULL << bit, 5));
    flipped += std::popcount(mix(3, 5) ^ mix(3, 5 ^ 1ULL << bit));
  }
  EXPECT_NEAR(flipped / 128, 32, 2);
}

TEST(Random, ReadsTheWordsOfConsecutiveBlocks) {
  const RandomKey key = random_key(1, "test", 0, 0);
  Random random(key, 9, 0xffffffff);
  for (uint64_t block = 0xffffffff; block < 0x100000002; ++block)
    for (const uint32_t word : philox(key, 9, block)) EXPECT_EQ(random.u32(), word);
}

TEST(Random, PutsTheLowHalfOfA64BitNumberFirst) {
  Random words(5);
  Random numbers(5);
  for (int i = 0; i < 9; ++i) {
    const uint64_t low = words.u32();
    EXPECT_EQ(numbers.u64(), low | uint64_t{words.u32()} << 32);
  }
}

TEST(Random, UniformFloatsAreMultiplesOfTwoToMinus24BelowOne) {
  Random random(6);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const float u = random.uniform();
    ASSERT_GE(u, 0.0F);
    ASSERT_LT(u, 1.0F);
    ASSERT_EQ(u * 0x1p24F, std::floor(u * 0x1p24F));
    sum += static_cast<double>(u);
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
}

TEST(Random, BelowOneIsZeroAndStaysBelowAnyBound) {
  Random random(7);
  EXPECT_EQ(random.below(1), 0U);
  for (const uint64_t n :
       {2ULL, 3ULL, 10ULL, 0x80000001ULL, 0xffffffffULL, 0x100000000ULL, 0x100000001ULL, 0x8000000000000001ULL, ~0ULL})
    for (int i = 0; i < 1000; ++i) ASSERT_LT(random.below(n), n);
}

TEST(Random, OneOfTakesTheUpperHalfOfOneWordTimesN) {
  EXPECT_EQ(Random::one_of(1, 0xffffffffU), 0);
  EXPECT_EQ(Random::one_of(10, 0), 0);
  EXPECT_EQ(Random::one_of(10, 0x19999999U), 0);
  EXPECT_EQ(Random::one_of(10, 0x1999999aU), 1);
  EXPECT_EQ(Random::one_of(10, 0xffffffffU), 9);
  EXPECT_EQ(Random::one_of(int64_t{1} << 32, 0xffffffffU), 0xffffffffLL);
  Random random(7), words(7);
  for (int64_t n = 1; n < 1000; ++n) ASSERT_EQ(random.one_of(n), Random::one_of(n, words.u32()));
}

// Chi-square over the sixths of [0, 3 * 2^30): without the second try a third of all values would come up twice as
// often, which the control shows.
double chi_square_of_sixths(const std::vector<uint64_t>& values, uint64_t n) {
  std::array<double, 6> counts{};
  for (const uint64_t v : values) ++counts[static_cast<size_t>(v / (n / 6))];
  double chi = 0;
  const double expected = static_cast<double>(values.size()) / 6;
  for (const double c : counts) chi += (c - expected) * (c - expected) / expected;
  return chi;
}

TEST(Random, BelowHasNoBiasWhereALargeBoundWouldShowIt) {
  const uint64_t small = 3ULL << 30;
  const uint64_t large = 3ULL << 62;
  std::vector<uint64_t> of_small, of_large, control;
  Random random(8);
  for (int i = 0; i < 60000; ++i) {
    of_small.push_back(random.below(small));
    of_large.push_back(random.below(large));
    control.push_back(random.u32() % small);
  }
  EXPECT_LT(chi_square_of_sixths(of_small, small), 25.0);  // 5 degrees of freedom: p = 1.4e-4
  EXPECT_LT(chi_square_of_sixths(of_large, large), 25.0);
  EXPECT_GT(chi_square_of_sixths(control, small), 1000.0);
}

TEST(Random, CopiesGoOnIndependently) {
  Random first(9);
  first.u32();
  Random second = first;
  const uint64_t expected = first.u64();
  EXPECT_EQ(second.u64(), expected);
}

TEST(Entropy, DiffersBetweenCalls) { EXPECT_NE(entropy(), entropy()); }

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/normal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "headpond/base/math/normal_internal.h"
#include "headpond/base/status.h"

namespace headpond {
namespace {

namespace ni = normal_internal;
using Bits = std::vector<uint32_t>;

Bits bits(std::span<const float> values) {
  Bits result;
  for (const float value : values) result.push_back(std::bit_cast<uint32_t>(value));
  return result;
}

constexpr RandomKey kKey{0x0123456789abcdef};

std::vector<float> scalar(size_t size, RandomKey key = kKey, uint64_t element = 0, uint64_t first_block = 0) {
  std::vector<float> values(size);
  fill_normal_scalar(values, key, element, first_block);
  return values;
}

struct Place {
  RandomKey key;
  uint64_t element;
  uint64_t first_block;
};

constexpr Place kPlaces[] = {{{0}, 0, 0},
                             {{~0ULL}, ~0ULL, 0},
                             {kKey, 1ULL << 32, 1},
                             {kKey, 0x89abcdef01234567, (1ULL << 28) - 3},  // the counter passes 2^32
                             {kKey, 7, (1ULL << 60) - 2}};                  // and 2^64

TEST(Normal, HasTheSameBitsOnEveryTargetAndInTheScalarTwin) {
  for (const Place& place : kPlaces) {
    const Bits expected = bits(scalar(8200, place.key, place.element, place.first_block));
    std::vector<float> values(8200);
    for (const std::string_view target : normal_targets()) {
      fill_normal_on(target, values, place.key, place.element, place.first_block);
      ASSERT_EQ(bits(values), expected) << target;
    }
    fill_normal(values, place.key, place.element, place.first_block);
    ASSERT_EQ(bits(values), expected);
  }
}

TEST(Normal, IsCutAtAnyLengthAndTouchesNothingElse) {
  const Bits whole = bits(scalar(200));
  for (const std::string_view target : normal_targets())
    for (size_t size = 0; size <= 200; ++size) {
      std::vector<float> values(size + 3, -99.0F);
      fill_normal_on(target, std::span(values).subspan(1, size), kKey, 0);  // not aligned to any vector
      ASSERT_EQ(bits(std::span(values).subspan(1, size)), Bits(whole.begin(), whole.begin() + static_cast<long>(size)));
      ASSERT_EQ(values.front(), -99.0F);
      ASSERT_EQ(values[size + 1], -99.0F);
    }
}

TEST(Normal, InPiecesIsTheSameAsAtOnce) {
  const std::vector<float> whole = scalar(40 * kNormalBlock + 17);
  std::vector<float> pieces(whole.size());
  uint64_t block = 0;
  for (const size_t blocks : {1, 2, 3, 5, 8, 13}) {
    fill_normal(std::span(pieces).subspan(block * kNormalBlock, blocks * kNormalBlock), kKey, 0, block);
    block += blocks;
  }
  fill_normal(std::span(pieces).subspan(block * kNormalBlock), kKey, 0, block);
  EXPECT_EQ(bits(pieces), bits(whole));
}

TEST(Normal, OtherKeysElementsAndBlocksGiveOtherValues) {
  std::vector<float> values = scalar(64);
  for (const auto& other : {scalar(64, {kKey.value ^ 1}), scalar(64, {kKey.value ^ 1ULL << 63}), scalar(64, kKey, 1),
                            scalar(64, kKey, 1ULL << 63), scalar(64, kKey, 0, 1), scalar(64, kKey, 0, 1ULL << 40)})
    values.insert(values.end(), other.begin(), other.end());
  std::ranges::sort(values);
  EXPECT_EQ(std::ranges::adjacent_find(values), values.end());
}

// These values are promised: published runs depend on them.
TEST(Normal, KeepsItsValuesForEver) {
  const Bits values = bits(scalar(64, {0}, 0, 0));
  EXPECT_EQ(values[0], 0x3f6cb6b0U);
  EXPECT_EQ(values[16], 0xbf7dbb33U);
  EXPECT_EQ(values[32], 0xbf1e1ba0U);
  EXPECT_EQ(values[48], 0xbef6d1b3U);
  EXPECT_EQ(values[63], 0x3d80444dU);
}

TEST(Normal, FollowsTheFormulaOfTheHeader) {
  const std::vector<float> values = scalar(1 << 13, kKey, 5, 0);
  for (size_t j = 0; j < values.size(); ++j) {
    const auto words = philox(kKey, 5, j / 64 * 16 + j % 16);
    const size_t which = j % 64 / 16;
    const uint32_t u = words[which / 2 * 2];
    const uint32_t v = words[which / 2 * 2 + 1];
    const float p = static_cast<float>(u / 2) + 0.5F;
    const double radius = std::sqrt(-2 * std::log(static_cast<double>(p) * 0x1p-31));
    const double x = static_cast<int32_t>(v << 2) * 0x1p-31 * std::numbers::pi / 4;
    const bool want_sine = (which % 2 == 1) != ((v >> 30 & 1) == 1);
    const double exact = radius * (want_sine ? std::sin(x) : std::cos(x)) * ((v >> 31) == 1 ? -1 : 1);
    ASSERT_NEAR(static_cast<double>(values[j]), exact, 1e-6 * std::abs(exact)) << j;
  }
}

TEST(Normal, IsFiniteForEveryWordAtTheEdges) {
  std::vector<uint32_t> edges;
  for (int bit = 0; bit < 32; ++bit)
    for (const int64_t near : {-2, -1, 0, 1, 2}) edges.push_back(static_cast<uint32_t>((int64_t{1} << bit) + near));
  for (const uint32_t u : edges)
    for (const uint32_t v : edges) {
      const ni::Pair pair = ni::box_muller<ni::Plain>(u, v);
      ASSERT_LT(std::abs(pair.first), 6.67F);
      ASSERT_LT(std::abs(pair.second), 6.67F);
    }
}

struct Fused {
  static float multiply_add(float a, float b, float c) { return std::fma(a, b, c); }
};

TEST(Normal, ControlAFusedMultiplyAddWouldChangeBits) {
  std::vector<float> fused(4096);
  ni::fill_blocks<Fused>(fused.data(), fused.size() / kNormalBlock, kKey, 0, 0);
  const std::vector<float> plain = scalar(4096);
  for (size_t i = 0; i < plain.size(); ++i) ASSERT_NEAR(plain[i], fused[i], 1e-5F);
  EXPECT_NE(bits(fused), bits(plain));
}

TEST(Normal, ControlTheSystemsLogarithmWouldChangeBits) {
  size_t different = 0;
  for (uint32_t word = 1; word < 4000000000U; word += 1000003) {
    const float u = (static_cast<float>(word >> 1) + 0.5F) * 0x1p-31F;
    different += ni::minus_two_log<ni::Plain>(word) != -2.0F * std::log(u) ? 1 : 0;
  }
  EXPECT_GT(different, 100U);
}

TEST(Normal, RefusesATargetThatThereIsNot) {
  std::vector<float> values(1);
  EXPECT_THROW(fill_normal_on("AVX9", values, kKey, 0), Exception);
}

// ---- The distribution. Each check allows five standard deviations of its own statistic. ----

#ifdef NDEBUG
constexpr size_t kMany = size_t{1} << 22;
#else
constexpr size_t kMany = size_t{1} << 19;
#endif

double mean_of(std::span<const float> values, double (*f)(double)) {
  double sum = 0;
  for (const float value : values) sum += f(static_cast<double>(value));
  return sum / static_cast<double>(values.size());
}

bool within(double value, double expected, double variance, size_t count) {
  return std::abs(value - expected) <= 5 * std::sqrt(variance / static_cast<double>(count));
}

bool moments_fit(std::span<const float> z) {
  return within(mean_of(z, [](double x) { return x; }), 0, 1, z.size()) &&
         within(mean_of(z, [](double x) { return x * x; }), 1, 2, z.size()) &&
         within(mean_of(z, [](double x) { return x * x * x; }), 0, 15, z.size()) &&
         within(mean_of(z, [](double x) { return x * x * x * x; }), 3, 96, z.size());
}

bool tails_fit(std::span<const float> z) {
  for (const double limit : {1.0, 2.0, 3.0, 4.0, 4.5}) {
    size_t below = 0;
    size_t above = 0;
    for (const float value : z) {
      below += static_cast<double>(value) < -limit ? 1 : 0;
      above += static_cast<double>(value) > limit ? 1 : 0;
    }
    const double p = std::erfc(limit / std::numbers::sqrt2) / 2;
    for (const size_t count : {below, above}) {
      const double share = static_cast<double>(count) / static_cast<double>(z.size());
      if (!within(share, p, p * (1 - p), z.size())) return false;
    }
  }
  return true;
}

// Chi-square of 64 equally likely bins: mean 63, standard deviation 11.2.
bool bins_fit(std::span<const float> z) {
  std::array<double, 64> counts{};
  for (const float value : z) {
    const double u = std::erfc(-static_cast<double>(value) / std::numbers::sqrt2) / 2;
    ++counts[std::min<size_t>(63, static_cast<size_t>(u * 64))];
  }
  const double expected = static_cast<double>(z.size()) / 64;
  double chi = 0;
  for (const double count : counts) chi += (count - expected) * (count - expected) / expected;
  return chi < 63 + 5 * 11.2;
}

// The two values of a pair, neighbours, and neighbouring blocks; also of the squares, where Box-Muller would show it.
bool lags_uncorrelated(std::span<const float> z) {
  for (const size_t lag : {1, 16, 32, 48, 64}) {
    double plain = 0;
    double squares = 0;
    for (size_t i = 0; i + lag < z.size(); ++i) {
      const auto a = static_cast<double>(z[i]);
      const auto b = static_cast<double>(z[i + lag]);
      plain += a * b;
      squares += (a * a - 1) * (b * b - 1);
    }
    const auto n = static_cast<double>(z.size() - lag);
    if (!within(plain / n, 0, 1, z.size()) || !within(squares / n, 0, 4, z.size())) return false;
  }
  return true;
}

std::vector<float> many() {
  std::vector<float> values(kMany);
  fill_normal(values, kKey, 3);
  return values;
}

TEST(NormalDistribution, FitsInMomentsTailsBinsAndLags) {
  const std::vector<float> values = many();
  EXPECT_TRUE(std::ranges::all_of(values, [](float x) { return std::isfinite(x); }));
  EXPECT_TRUE(moments_fit(values));
  EXPECT_TRUE(tails_fit(values));
  EXPECT_TRUE(bins_fit(values));
  EXPECT_TRUE(lags_uncorrelated(values));
}

TEST(NormalDistribution, ControlEachCheckRejectsItsOwnFault) {
  std::vector<float> wide = many();
  for (float& value : wide) value *= 1.01F;
  EXPECT_FALSE(moments_fit(wide));

  std::vector<float> clipped = many();
  for (float& value : clipped) value = std::clamp(value, -2.95F, 2.95F);
  EXPECT_FALSE(tails_fit(clipped));

  std::vector<float> gap = many();
  for (float& value : gap) value = std::abs(value) < 0.01F ? value + 0.04F : value;
  EXPECT_FALSE(bins_fit(gap));

  std::vector<float> leaking = many();
  for (size_t i = 16; i < leaking.size(); ++i) leaking[i] += 0.05F * leaking[i - 16];
  EXPECT_FALSE(lags_uncorrelated(leaking));
}

}  // namespace
}  // namespace headpond

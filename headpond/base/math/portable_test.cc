// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/math/portable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace headpond {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The C library in long double is the oracle.
template <class Own, class Theirs>
double worst_error(Own own, Theirs theirs, double low, double high, bool relative) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> draw(low, high);
  double worst = 0;
  for (int i = 0; i < 200'000; ++i) {
    const double x = draw(random);
    const long double expected = theirs(static_cast<long double>(x));
    const long double error = std::abs(static_cast<long double>(own(x)) - expected);
    const long double size = relative ? std::abs(expected) : 1;
    worst = std::max(worst, static_cast<double>(size == 0 ? error : error / size));
  }
  return worst;
}

long double exact_exp(long double x) { return std::exp(x); }
long double exact_log(long double x) { return std::log(x); }
long double exact_sin(long double x) { return std::sin(x); }
long double exact_cos(long double x) { return std::cos(x); }

TEST(Portable, IsAsExactAsPromised) {
  EXPECT_LT(worst_error(portable::exp, exact_exp, -700, 700, true), 4e-16);
  EXPECT_LT(worst_error(portable::exp, exact_exp, -1, 1, true), 4e-16);
  EXPECT_LT(worst_error(portable::log, exact_log, 1e-9, 10, true), 4e-16);
  EXPECT_LT(worst_error(portable::log, exact_log, 0.9, 1.1, true), 4e-16);
  EXPECT_LT(worst_error(portable::log, exact_log, 1, 1e300, true), 4e-16);
  for (const double most : {4.0, 1000.0, 1e6}) {
    EXPECT_LT(worst_error(portable::sin, exact_sin, -most, most, false), 4e-16) << most;
    EXPECT_LT(worst_error(portable::cos, exact_cos, -most, most, false), 4e-16) << most;
  }
}

TEST(Portable, KnowsTheEdges) {
  EXPECT_EQ(portable::exp(0), 1);
  EXPECT_EQ(portable::exp(710), kInfinity);
  EXPECT_EQ(portable::exp(-746), 0);
  EXPECT_EQ(portable::exp(-kInfinity), 0);
  EXPECT_TRUE(std::isnan(portable::exp(std::nan(""))));
  EXPECT_EQ(portable::log(1), 0);
  EXPECT_EQ(portable::log(0), -kInfinity);
  EXPECT_EQ(portable::log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(portable::log(-1)));
  EXPECT_NEAR(portable::log(5e-324), -744.4400719213812, 1e-12);
  EXPECT_EQ(portable::sin(0), 0);
  EXPECT_EQ(portable::cos(0), 1);
  EXPECT_TRUE(std::isnan(portable::sin(2e6)));
  EXPECT_TRUE(std::isnan(portable::cos(kInfinity)));
  EXPECT_EQ(portable::pow(0, 2), 0);
  EXPECT_EQ(portable::pow(0, 0), 1);
  EXPECT_EQ(portable::pow(0, -1), kInfinity);
  EXPECT_NEAR(portable::pow(2, 0.5), 1.4142135623730951, 1e-15);
  EXPECT_NEAR(portable::log10(1000), 3, 3e-15);
  EXPECT_NEAR(portable::log2(8), 3, 3e-15);
}

// These bits are part of the format of augmented data: a change of them is a change of every user's epoch.
TEST(Portable, KeepsItsBits) {
  uint64_t digest = 0;
  for (int i = 1; i < 2000; ++i) {
    const double x = 0.37 * i;
    for (const double y : {portable::exp(x / 8), portable::log(x), portable::sin(x), portable::cos(-x)}) {
      digest = digest * 0x100000001b3ULL ^ std::bit_cast<uint64_t>(y);
    }
  }
  EXPECT_EQ(digest, 9065257841068119159U);
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/math/beta.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace headpond {
namespace {

std::vector<double> beta_draws(double a, double b, size_t count) {
  std::vector<double> all;
  for (uint64_t element = 0; element < count; ++element) {
    Random random(RandomKey{11}, element);
    all.push_back(draw_beta(random, a, b));
  }
  return all;
}

// Mean and variance, each within five standard deviations of its own statistic; the fourth central moment of a number
// in [0, 1] is at most its variance.
bool fits_beta(const std::vector<double>& draws, double a, double b) {
  const auto n = static_cast<double>(draws.size());
  const double mean = a / (a + b);
  const double variance = a * b / ((a + b) * (a + b) * (a + b + 1));
  double sum = 0, squares = 0;
  for (const double x : draws) {
    sum += x;
    squares += (x - mean) * (x - mean);
  }
  return std::abs(sum / n - mean) < 5 * std::sqrt(variance / n) &&
         std::abs(squares / n - variance) < 5 * std::sqrt(variance / n);
}

TEST(Beta, HasMeanAndVarianceOfTheDistribution) {
  constexpr size_t kDraws = 4000;
  for (const auto& [a, b] : {std::pair{1.0, 1.0}, {0.2, 0.2}, {0.01, 0.02}, {2.0, 5.0}, {400.0, 30.0}}) {
    EXPECT_TRUE(fits_beta(beta_draws(a, b, kDraws), a, b)) << a << " " << b;
    EXPECT_FALSE(fits_beta(beta_draws(a * 1.5, b, kDraws), a, b)) << "control: " << a << " " << b;
  }
}

TEST(Beta, OfOneAndOneIsUniform) {
  std::vector<size_t> counts(16);
  for (const double x : beta_draws(1, 1, 8000)) ++counts[std::min<size_t>(15, static_cast<size_t>(x * 16))];
  double chi = 0;  // Of 15 degrees of freedom: mean 15, standard deviation 5.5.
  for (const size_t count : counts) chi += std::pow(static_cast<double>(count) - 500, 2) / 500;
  EXPECT_LT(chi, 15 + 5 * 5.5);
}

TEST(Beta, StaysInTheUnitIntervalForExtremeParameters) {
  for (const double a : {1e-6, 1e-3, 1.0, 1e6}) {
    for (const double b : {1e-6, 1e-3, 1.0, 1e6}) {
      for (const double x : beta_draws(a, b, 200)) {
        ASSERT_GE(x, 0);
        ASSERT_LE(x, 1);
      }
    }
  }
}

// These values are promised: published runs depend on them.
TEST(Beta, KeepsItsValuesForEver) {
  const std::vector<double> one = beta_draws(1, 1, 2);
  const std::vector<double> small = beta_draws(0.2, 0.4, 2);
  EXPECT_EQ(one, (std::vector<double>{0.92150210819789791, 0.94633576134997421}));
  EXPECT_EQ(small, (std::vector<double>{0.6929599521606653, 0.80493803053417601}));
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/math/portable.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace headpond::portable {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ln 2 and pi / 2 in parts. The first ones end in zero bits, so that a whole number times them is exact.
constexpr double kLogTwoHigh = 0x1.62e42fee00000p-1;
constexpr double kLogTwoLow = 0x1.a39ef35793c76p-33;
constexpr double kQuarterHigh = 0x1.921fb54400000p0;
constexpr double kQuarterMiddle = 0x1.0b4611a600000p-34;
constexpr double kQuarterLow = 0x1.3198a2e037073p-69;

// sum of terms[i] y^i.
template <size_t N>
double polynomial(const std::array<double, N>& terms, double y) {
  double sum = terms[N - 1];
  for (size_t i = N - 1; i > 0; --i) sum = sum * y + terms[i - 1];
  return sum;
}

constexpr std::array<double, 8> kSine = {1.0,          -1.0 / 6,        1.0 / 120,        -1.0 / 5040,
                                         1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
constexpr std::array<double, 9> kCosine = {1.0,
                                           -1.0 / 2,
                                           1.0 / 24,
                                           -1.0 / 720,
                                           1.0 / 40320,
                                           -1.0 / 3628800,
                                           1.0 / 479001600,
                                           -1.0 / 87178291200,
                                           1.0 / 20922789888000};

// The sine of x + turns quarter turns more.
double sine(double x, int64_t turns) {
  if (!(std::abs(x) <= 1e6)) return kNan;
  const double quarters = std::nearbyint(x * 0.63661977236758134308);
  const double rest = ((x - quarters * kQuarterHigh) - quarters * kQuarterMiddle) - quarters * kQuarterLow;
  const double square = rest * rest;
  const int64_t turn = (static_cast<int64_t>(quarters) + turns) & 3;
  const double value = (turn & 1) == 0 ? rest * polynomial(kSine, square) : polynomial(kCosine, square);
  return (turn & 2) == 0 ? value : -value;
}

}  // namespace

double exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 709.782712893384) return kInfinity;
  if (x < -745.13321910194122) return 0;
  static constexpr std::array<double, 14> kTerms = {
      1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
      1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  const double power = std::nearbyint(x * 1.44269504088896340736);
  const double rest = (x - power * kLogTwoHigh) - power * kLogTwoLow;
  return std::ldexp(polynomial(kTerms, rest), static_cast<int>(power));
}

double log(double x) {
  if (std::isnan(x) || x < 0) return kNan;
  if (x == 0) return -kInfinity;
  if (x == kInfinity) return x;
  int power = 0;
  double part = std::frexp(x, &power);
  if (part < 0.70710678118654752440) {
    part *= 2;
    --power;
  }
  // ln(1 + f) = f - (f^2 / 2 - s (f^2 / 2 + 2 s^2 (1/3 + s^2/5 + ...))) with s = f / (2 + f): f is exact.
  static constexpr std::array<double, 11> kTerms = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                                                    2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
  const double f = part - 1;
  const double s = f / (2 + f);
  const double square = s * s;
  const double half = 0.5 * f * f;
  const double correction = s * (half + square * polynomial(kTerms, square)) + power * kLogTwoLow;
  return power * kLogTwoHigh - ((half - correction) - f);
}

double log10(double x) { return log(x) * 0.43429448190325182765; }
double log2(double x) { return log(x) * 1.44269504088896340736; }
double sin(double x) { return sine(x, 0); }
double cos(double x) { return sine(x, 1); }

double pow(double x, double y) {
  if (y == 0) return 1;
  if (x == 0) return y > 0 ? 0 : kInfinity;
  return exp(y * log(x));
}

}  // namespace headpond::portable

// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/math/beta.h"

#include <cassert>
#include <cmath>
#include <numbers>

#include "headpond/base/math/portable.h"

namespace headpond {
namespace {

// Never 0 or 1.
double open_uniform(Random& random) { return (static_cast<double>(random.u32()) + 0.5) * 0x1p-32; }

double draw_normal(Random& random) {
  const double radius = std::sqrt(-2 * portable::log(open_uniform(random)));
  return radius * portable::cos(2 * std::numbers::pi * open_uniform(random));
}

// The logarithm of a gamma variate: for small parameters the variate itself may be below any double.
double draw_log_gamma(Random& random, double shape) {
  if (shape < 1) {
    const double power = portable::log(open_uniform(random)) / shape;
    return power + draw_log_gamma(random, shape + 1);
  }
  constexpr int kAttempts = 64;  // Any random numbers end the loop.
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const double x = draw_normal(random);
    const double u = open_uniform(random);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double log_v = 3 * portable::log(root);
    const double v = root * root * root;
    if (portable::log(u) < 0.5 * x * x + d - d * v + d * log_v) return portable::log(d) + log_v;
  }
  return portable::log(d);
}

}  // namespace

double draw_beta(Random& random, double a, double b) {
  assert(a >= 1e-6 && a <= 1e6 && b >= 1e-6 && b <= 1e6);
  const double log_a = draw_log_gamma(random, a);
  const double log_b = draw_log_gamma(random, b);
  return 1 / (1 + portable::exp(log_b - log_a));
}

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// Random numbers of the beta distribution, for mixup and its like. A pure function of the words drawn, with the same
// bits on every machine.
#pragma once

#include "headpond/base/random.h"

namespace headpond {

/// Beta(a, b), within [0, 1]. Two gamma variates by G. Marsaglia and W. W. Tsang, "A simple method for generating gamma
/// variables", 2000, that of a first: one word if the parameter is below 1, then three words for each attempt; an
/// attempt succeeds with a probability above 0.95. REQUIRES: a and b within [1e-6, 1e6].
double draw_beta(Random& random, double a, double b);

}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// Pipelines drawn at random from all operators, for tests of what holds for each of them.
#pragma once

#include "headpond/base/random.h"
#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// At most `depth` operators over small sources; it has an end, and few enough elements to go through them often.
Dataset random_plan(Random& random, int depth);

}  // namespace headpond::internal

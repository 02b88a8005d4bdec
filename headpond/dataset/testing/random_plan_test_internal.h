// SPDX-License-Identifier: Apache-2.0
// Pipelines drawn at random from all operators, for tests of what holds for each of them.
#pragma once

#include "headpond/base/random.h"
#include "headpond/dataset/dataset.h"

namespace headpond::internal {

struct PlanChoice {
  bool errors = false;  ///< Functions, sources and batches that fail for some elements.
  bool pauses = false;  ///< Functions that take longer for some elements, and some that are said to wait.
  bool endless = false;
  int hint_after = -1;  ///< A prefetch, which changes nothing but the plan, after so many operators; below 0: none.
  Step hint = nullptr;  ///< In place of that prefetch.
};

/// At most `depth` operators over small sources, and one or two more if it is endless; else it has an end. Few enough
/// elements to go through them often; with errors, the same one may come for ever. Equal draws give equal pipelines,
/// each with nothing in its caches.
Dataset random_plan(Random& random, int depth, const PlanChoice& choice = {});

}  // namespace headpond::internal

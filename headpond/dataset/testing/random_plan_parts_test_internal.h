// SPDX-License-Identifier: Apache-2.0
// The parts of a random plan, by what they draw, and what these share.
#pragma once

#include <string>

#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/dataset/testing/random_plan_test_internal.h"

namespace headpond::internal::random_plans {

/// Of an input that is read again. Where more elements are made of each, a third of it.
inline constexpr int64_t kMostSlots = 120;

inline int64_t among(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random.below(static_cast<uint64_t>(high - low + 1)));
}
inline bool one_in(Random& random, uint64_t n) { return random.below(n) == 0; }

inline MapOptions named(const char* name, int64_t version, Spec output = {}) {
  return {.output = std::move(output), .name = name, .version = static_cast<int>(version)};
}

inline bool is_single(const Dataset& dataset, DType dtype) {
  return dataset.spec().size() == 1 && dataset.spec()[0].dtype == dtype;
}
inline bool is_scalar(const Dataset& dataset) { return dataset.spec()[0].shape.rank() == 0; }

Dataset source(Random& random, const PlanChoice& choice);

/// For elements that are one i64 scalar.
Dataset number_step(Random& random, const Dataset& input, const PlanChoice& choice);
/// For elements that are one field of numbers or bytes: each value by itself, or back to one number.
Dataset numbers_again(Random& random, const Dataset& input, const PlanChoice& choice);
Dataset fields_step(Random& random, const Dataset& input);

Dataset structure_step(Random& random, const Dataset& input, const PlanChoice& choice);
/// Shuffles, caches, batches.
Dataset order_step(Random& random, const Dataset& input, const PlanChoice& choice);

/// `input` through one of the operators of ops/regroup.h and ops/bucket.h, if one fits its elements.
Dataset regroup_step(Random& random, const Dataset& input, const PlanChoice& choice);

/// `input`, numbers in one field of whatever shape, through kernels, some of which are joined.
Dataset kernels_step(Random& random, const Dataset& input, const PlanChoice& choice);

}  // namespace headpond::internal::random_plans

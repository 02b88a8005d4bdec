// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/random_plan_parts_test_internal.h"

namespace headpond::internal {
namespace random_plans {
namespace {

Dataset without_end(Random& random, const Dataset& input) {
  Dataset plan = input | repeat();
  if (one_in(random, 2)) return plan;
  return plan | batch(among(random, 1, 4));
}

Dataset next_step(Random& random, const Dataset& plan, const PlanChoice& choice) {
  const uint64_t kind = random.below(5);
  if (kind == 4) return regroup_step(random, plan, choice);
  if (kind == 0 && is_single(plan, DType::i64) && is_scalar(plan)) return number_step(random, plan, choice);
  if (kind == 0 && (is_single(plan, DType::i64) || is_single(plan, DType::bytes)))
    return numbers_again(random, plan, choice);
  if (kind <= 1) return fields_step(random, plan);
  return kind == 2 ? structure_step(random, plan, choice) : order_step(random, plan, choice);
}

}  // namespace
}  // namespace random_plans

Dataset random_plan(Random& random, int depth, const PlanChoice& choice) {
  Dataset plan = random_plans::source(random, choice);
  for (int i = 0; i < depth; ++i) {
    if (i == choice.hint_after) plan = plan | (choice.hint ? choice.hint : prefetch());
    plan = random_plans::next_step(random, plan, choice);
  }
  return choice.endless ? random_plans::without_end(random, plan) : plan;
}

}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
// A Loader goes on from a state whose plan changed as a Sequence does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "headpond/dataset/migrate/migrate.h"
#include "headpond/dataset/testing/training_plan_test_internal.h"
#include "headpond/engine/testing/plan_run_test_internal.h"

namespace headpond::internal {
namespace {

// "" iff a Loader gives what `expected` has from `from` on, with its states.
std::string difference_of_run(const Dataset& plan, uint64_t seed, int threads, const std::string& state,
                              const Course& expected, size_t from) {
  auto loader = Loader::restored(plan, {.epochs = 2, .seed = seed, .threads = threads}, state);
  if (!loader) return loader.error().to_string();
  for (size_t i = from; i < expected.outcomes.size(); ++i) {
    const std::string what = difference(outcome_of(*loader), expected.outcomes[i]);
    if (!what.empty()) return fmt::format("outcome {}: {}", i, what);
  }
  return "";
}

TEST(ChangedPlans, RunAsTheirSequence) {
  int in_order = 0;
  for (uint64_t number = 0; number < 120; ++number) {
    Random random(number);
    TrainingPlan first = random_training_plan(random);
    if (number % 2 == 0) first.join = TrainingPlan::mixed;
    const TrainingPlan second = changed(random, first);
    const Dataset then = first.dataset(), now = second.dataset();
    Loader old(then, {.epochs = 2, .seed = number, .threads = 2});
    for (uint64_t left = random.below(6); left > 0 && old.next(); --left) {
    }
    const auto migrated = migrate(old.state(), then, now);
    if (!migrated && first.bucket > 0) continue;  // What buckets hold cannot always go on.
    ASSERT_TRUE(migrated) << then.plan() << now.plan() << migrated.error();
    SCOPED_TRACE(fmt::format("{}{}{}", then.plan(), now.plan(), to_string(*migrated)));
    in_order += migrated->state[3] == '2' ? 1 : 0;
    auto sequence = Sequence::restored(now, {.seed = number, .epochs = 2}, migrated->state);
    ASSERT_TRUE(sequence) << sequence.error();
    const Course expected = course_of(*sequence, 200);
    for (const int threads : {0, 1, 3}) {
      ASSERT_EQ(difference_of_run(now, number, threads, migrated->state, expected, 0), "") << threads;
    }
    const size_t middle = random.below(expected.outcomes.size());
    const std::string& state = expected.outcomes[middle].state;
    ASSERT_EQ(difference_of_run(now, number, 2, state, expected, expected.after(middle)), "") << "from " << middle;
  }
  EXPECT_GT(in_order, 10);
}

}  // namespace
}  // namespace headpond::internal

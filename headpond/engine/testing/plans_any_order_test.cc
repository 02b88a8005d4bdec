// SPDX-License-Identifier: Apache-2.0
// Random pipelines whose elements may come in any order: in each epoch the same ones, each once, also over restores.
// HEADPOND_PLANS and HEADPOND_PLANS_FIRST as in plans_test.cc.
#include <fmt/format.h>

#include <algorithm>

#include "headpond/engine/testing/plan_run_test_internal.h"

namespace headpond::internal {
namespace {

// Each element without its number, which is that of its turn; in a fixed order.
std::vector<std::string> sorted(std::vector<std::string> elements) {
  std::sort(elements.begin(), elements.end());
  return elements;
}

std::vector<std::string> in_order(const PlanCase& plan_case) {
  std::vector<std::string> all;
  Sequence sequence(plan_case.plan(), plan_case.sequential());
  while (true) {
    const auto next = sequence.next();
    EXPECT_TRUE(next || at_end(next)) << next.error();
    if (!next) return all;
    all.push_back(bytes_of(*next, sequence.epoch(), 0));
  }
}

struct Pieces {
  const PlanCase& plan_case;
  Watchdog& watchdog;
  Random pace;
  std::vector<std::string> got = {};
  int64_t epoch = 0, index = -1;

  LoaderOptions options(uint64_t number) const {
    LoaderOptions options = plan_case.options(number, 4096);
    options.deterministic = false;
    return options;
  }

  // So many elements; false at the end, or when something is wrong.
  bool take(Loader& loader, uint64_t count) {
    for (; count > 0; --count) {
      const auto next = loader.next();
      EXPECT_TRUE(next || at_end(next)) << next.error();
      if (!next) return false;
      const Batch& batch = *next;
      index = batch.epoch() == epoch ? index + 1 : 0;
      epoch = batch.epoch();
      EXPECT_EQ(batch.index(), index);
      got.push_back(bytes_of(batch.element(), epoch, 0));
      if (pace.below(16) == 0) std::this_thread::sleep_for(std::chrono::microseconds(pace.below(100)));
    }
    return !testing::Test::HasFailure();
  }

  void take_all() {
    std::string state = Loader(plan_case.plan(), options(0)).state();
    for (uint64_t piece = 0;; ++piece) {
      const std::string what = fmt::format("plan {} piece {} with {}:\n{}", plan_case.number, piece,
                                           to_string(options(piece)), plan_case.plan().plan());
      SCOPED_TRACE(what);
      watchdog.in(what);
      auto loader = Loader::restored(plan_case.plan(), options(piece), state);
      ASSERT_TRUE(loader) << loader.error();
      ASSERT_EQ(loader->state(), state) << "saved at once after the restore";
      if (!take(*loader, 1 + pace.below(40))) return;
      state = loader->state();
    }
  }
};

TEST(PlansInAnyOrder, DeliverTheSameElements) {
  const uint64_t plans = number_from("HEADPOND_PLANS", 300), first = number_from("HEADPOND_PLANS_FIRST", 0);
  Watchdog watchdog;
  int moved = 0;
  for (uint64_t number = first; number < first + plans; ++number) {
    const PlanCase plan_case(number);
    if (number % 2 == 1 || plan_case.endless) continue;  // Errors come by themselves, and change what is together.
    watchdog.in(fmt::format("plan {}, sequentially", number));
    const std::vector<std::string> expected = in_order(plan_case);
    Pieces run{plan_case, watchdog, Random(RandomKey{number}, 5)};
    run.take_all();
    ASSERT_FALSE(HasFailure());
    ASSERT_EQ(run.got.size(), expected.size()) << "plan " << number << ":\n" << plan_case.plan().plan();
    ASSERT_TRUE(sorted(run.got) == sorted(expected)) << "plan " << number << ":\n" << plan_case.plan().plan();
    moved += run.got == expected ? 0 : 1;
  }
  EXPECT_GT(moved, plans >= 500 ? 0 : -1) << "control: hardly a pipeline came in another order";
}

}  // namespace
}  // namespace headpond::internal

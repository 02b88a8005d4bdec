// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/resumable_input.h"

#include "headpond/dataset/ops/regroup/regroup_test_internal.h"
#include "headpond/dataset/run_state.h"

namespace headpond::internal {
namespace {

// Batches in whose midst an element fails.
std::vector<Dataset> broken_batches() {
  std::vector<Dataset> all;
  for (const Dataset& input : each_kind(range(12) | failing_at({1, 4, 6, 9}))) {
    all.push_back(input | batch(2));
    all.push_back(input | batch(1) | rebatch(2));
    all.push_back(input | batch(3) | unbatch() | batch(2));
  }
  return all;
}

TEST(ResumableInput, OperatorsThatGoOnElsewhereAfterAnErrorResumeExactly) {
  const Dataset other = range(20, 26) | batch(1);
  for (const Dataset& broken : broken_batches()) {
    check_errors_come_once(mix({broken, other}, {2, 1}));
    check_errors_come_once(sample_from_datasets({broken, other}, {0.5, 0.5}));
    check_errors_come_once(
        choose_from_datasets({broken, other}, range(12) | map([](int64_t i) { return i % 2; }, {.name = "odd"})));
    check_errors_come_once(range(2) | interleave([broken, other](int64_t i) { return i == 0 ? broken : other; },
                                                 {.cycle_length = 2, .name = "two"}));
    Element none;
    none.append(Tensor::from(std::vector<int64_t>{-1}, {1}));
    check_errors_come_once(broken | on_error({.policy = OnErrorPolicy::substitute, .substitute = none}));
  }
}

TEST(ResumableInput, AStateAfterAnErrorHasTheRowsBeforeIt) {
  const Dataset dataset = range(4) | failing_at({1}) | batch(2);
  for (const bool resumable : {true, false}) {
    SequentialFeed feed;
    const auto open = [&] {
      return resumable ? open_resumable(feed, *dataset.node(), {}) : feed.open(*dataset.node(), {});
    };
    const auto first = open();
    Context context;
    Element out;
    EXPECT_EQ(first->next(context, out), Got::error);
    const std::string state = position_of(*first);
    const auto second = open();
    StateVisitor visitor = StateVisitor::restoring(state);
    second->visit_state(visitor);
    EXPECT_TRUE(visitor.complete());
    EXPECT_EQ(position_of(*second), state);
    out.clear();
    ASSERT_EQ(second->next(context, out), Got::value);
    EXPECT_EQ(text_of(out), resumable ? "[0 2]" : "[2 3]") << "control: the iterator of batch itself loses a row";
  }
}

}  // namespace
}  // namespace headpond::internal

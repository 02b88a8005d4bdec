// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/migrate/node_state_internal.h"
#include "headpond/dataset/run_state.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/dataset/testing/random_plan_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;

// After `count` elements of epoch 0.
Result<NodeState> state_after(const Dataset& dataset, int64_t count) {
  Sequence sequence(dataset, {.seed = 7});
  for (int64_t i = 0; i < count; ++i) (void)sequence.next();
  return node_state(dataset, {7, 0}, read_state(sequence.state())->state.position);
}

TEST(NodeState, OfPositionsIsTheNextOne) {
  const Dataset dataset = range(9) | shuffle() | batch(2);
  const auto state = state_after(dataset, 3);
  ASSERT_TRUE(state) << state.error();
  EXPECT_FALSE(state->position);
  EXPECT_THAT(state->own, ElementsAre(saved_number(3), ""));
  ASSERT_EQ(state->inputs.size(), 1U);
  EXPECT_EQ(state->inputs[0].position, 6);
  EXPECT_EQ(state->inputs[0].node, &dataset.node()->input());
}

TEST(NodeState, HasEachInputWithItsNumber) {
  const Dataset a = range(9), both = sample_from_datasets({a, a}, {1, 1});
  const auto state = state_after(both, 5);
  ASSERT_TRUE(state) << state.error();
  EXPECT_THAT(state->numbers, ElementsAre(0U, 1U));
  EXPECT_EQ(*state->inputs[0].position + *state->inputs[1].position, 5);
}

TEST(NodeState, IsNotWholeIfAnOperatorKeepsOlderStates) {
  const Dataset stream = from_generator([](uint64_t) -> Generator { return [] { return Element{Tensor::scalar(1)}; }; },
                                        {{"", DType::i32, {}}}, {.name = "ones"});
  EXPECT_TRUE(is_whole(*state_after(stream | batch(2), 1)));
  EXPECT_FALSE(is_whole(*state_after(stream | shuffle(4), 1)));
  EXPECT_FALSE(is_whole(*state_after(range(5) | as_stream() | unique(), 1)));
}

// The bytes of all operators are those of the parts.
std::string joined(const NodeState& state) {
  if (state.own.size() != state.inputs.size() + 1) return state.bytes;
  std::string bytes = state.own[0];
  for (size_t i = 0; i < state.inputs.size(); ++i) bytes += joined(state.inputs[i]) + state.own[i + 1];
  return bytes;
}

TEST(NodeState, OfRandomPlansIsMadeOfItsParts) {
  for (uint64_t number = 0; number < 200; ++number) {
    Random random(number);
    const Dataset plan = random_plan(random, 1 + static_cast<int>(random.below(6)));
    SCOPED_TRACE(plan.plan());
    const auto state = state_after(plan, static_cast<int64_t>(random.below(9)));
    ASSERT_TRUE(state) << state.error();
    EXPECT_EQ(joined(*state), state->bytes);
  }
}

TEST(NodeState, ReplacesTheFirstNumber) {
  EXPECT_EQ(with_first_number(saved_number(5) + "rest", saved_number(-70000) + "other"), saved_number(-70000) + "rest");
  EXPECT_EQ(with_first_number("", saved_number(1)), saved_number(1));
}

}  // namespace
}  // namespace headpond::internal

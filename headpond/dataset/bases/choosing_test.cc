// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/choosing.h"

#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Every second element from the second one on; at most `most` of them.
struct EverySecond {
  int64_t most_kept;

  int64_t operator()(int64_t i) const { return i == 1000 ? kNoPosition : 2 * i + 1; }
  Choice choose(int64_t& seen) const {
    if (seen == 2 * most_kept) return Choice::end;
    ++seen;
    return seen % 2 == 0 ? Choice::keep : Choice::drop;
  }
  int64_t most() const { return 2 * most_kept; }
};

Dataset every_second(const Dataset& input, int64_t most_kept) {
  Node::Facts facts = counting_facts(input.node(), "every_second", fmt::format("most={}", most_kept));
  facts.slots = facts.slots.then(
      [most_kept](int64_t slots) { return slots == kEndless ? slots : std::min(slots / 2, most_kept); });
  return Dataset(std::make_shared<Choosing<EverySecond>>(std::move(facts), EverySecond{most_kept}));
}

TEST(Choosing, GivesTheSameByPositionsAndByCounting) {
  for (const Dataset& input : {range(9), range(9) | filter([](int64_t) { return true; }), range(9) | as_stream()}) {
    EXPECT_THAT(elements(every_second(input, 9)), ElementsAre("1", "3", "5", "7"));
    EXPECT_THAT(elements(every_second(input, 2)), ElementsAre("1", "3"));
    check_contract(every_second(input, 2));
    check_contract(every_second(input, 9));
  }
}

TEST(Choosing, HasPositionsOnlyOverPositionsWithoutHoles) {
  EXPECT_EQ(every_second(range(9), 9).kind(), Kind::indexed);
  EXPECT_EQ(every_second(range(9) | filter([](int64_t) { return true; }), 9).kind(), Kind::stream);
}

TEST(Choosing, CountsNeitherWaitingNorErrors) {
  EXPECT_THAT(answers(every_second(script({"0", "pending", "bad", "1", "pending", "2", "ugly", "3"}), 9)),
              ElementsAre("pending", "!bad", "1", "pending", "!ugly", "3", "end"));
}

TEST(Choosing, AsksNothingAfterItsEnd) {
  EXPECT_THAT(answers(every_second(script({"0", "1", "bad"}), 1)), ElementsAre("1", "end"));
}

TEST(Choosing, AStateThatCountsTooFarIsRefused) {
  PlainFeed feed;
  const Dataset most_two = every_second(range(99) | as_stream(), 2),
                most_one = every_second(range(99) | as_stream(), 1);
  Context context;
  const auto run = open(*most_two.node(), {}, feed);
  for (int i = 0; i < 2; ++i) {
    Element out;
    EXPECT_EQ(run->next(context, out), Got::value);
  }
  StateVisitor saved;
  run->visit_state(saved);
  StateVisitor refused = StateVisitor::restoring(saved.saved());
  open(*most_one.node(), {}, feed)->visit_state(refused);
  EXPECT_FALSE(refused.ok());
  StateVisitor restored = StateVisitor::restoring(saved.saved());
  open(*most_two.node(), {}, feed)->visit_state(restored);
  EXPECT_TRUE(restored.complete()) << "control: the same rule takes it";
}

TEST(PositionMap, APositionThatTheInputHasNotIsAnError) {
  const Dataset dataset = every_second(range(4000), 4000);
  const auto view = dataset.node()->bind({});
  Context context;
  Element out;
  EXPECT_EQ(view->at(999, context, {}, out), Got::value);
  out.clear();
  EXPECT_EQ(view->at(1000, context, {}, out), Got::error);
  EXPECT_EQ(context.error.kind(), ErrorKind::OutOfRange);
  EXPECT_THAT(context.error.message(), HasSubstr("every_second(most=4000): its input has no position for 1000"));
  std::vector<int64_t> numbers(2);
  const OutputSlot column = {reinterpret_cast<std::byte*>(numbers.data()), &dataset.spec()[0]};
  const std::vector<int64_t> good = {3, 999}, bad = {3, 1000};
  EXPECT_TRUE(view->fill(good, context, OutputSlots(&column, 1), nullptr));
  EXPECT_THAT(numbers, ElementsAre(7, 1999));
  EXPECT_FALSE(view->fill(bad, context, OutputSlots(&column, 1), nullptr));
}

}  // namespace
}  // namespace headpond::internal

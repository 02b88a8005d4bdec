// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kFutile = "!FailedPrecondition: repeat(count=-1): no element in round";

// What becomes of the positions of a range, of one with holes and of a stream.
std::vector<Dataset> each_kind(int64_t stop) {
  return {range(stop), range(stop) | filter([](int64_t) { return true; }), range(stop) | as_stream()};
}

TEST(Repeat, GivesItsInputAgainWithOtherKeys) {
  for (const Dataset& input : each_kind(2)) {
    EXPECT_THAT(elements(input | repeat(3), {}, true),
                ElementsAre("0 #0", "1 #1", keyed(0, 0, 1), keyed(1, 1, 1), keyed(0, 0, 2), keyed(1, 1, 2)));
    EXPECT_THAT(elements(input | repeat(1), {}, true), ElementsAre("0 #0", "1 #1"));
    EXPECT_THAT(elements(input | repeat(0)), IsEmpty());
    EXPECT_THAT(elements(input | repeat() | take(5), {}, true),
                ElementsAre("0 #0", "1 #1", keyed(0, 0, 1), keyed(1, 1, 1), keyed(0, 0, 2)));
  }
}

TEST(Repeat, KeepsTheKindUnlessHolesWouldNeverEnd) {
  const auto inputs = each_kind(3);
  EXPECT_EQ((inputs[0] | repeat(2)).kind(), Kind::indexed);
  EXPECT_EQ((inputs[0] | repeat()).kind(), Kind::indexed);
  EXPECT_EQ((inputs[1] | repeat(2)).kind(), Kind::sparse);
  EXPECT_EQ((inputs[1] | repeat()).kind(), Kind::stream);
  EXPECT_EQ((inputs[2] | repeat()).kind(), Kind::stream);
}

TEST(Repeat, KnowsItsCardinality) {
  EXPECT_EQ((range(3) | repeat(4)).cardinality(), 12);
  EXPECT_EQ((range(3) | repeat(0)).cardinality(), 0);
  EXPECT_EQ((range(3) | repeat()).cardinality(), kEndless);
  EXPECT_EQ((range(3) | repeat(-7)).plan(), (range(3) | repeat()).plan());
  EXPECT_EQ((range(0) | repeat()).cardinality(), 0);
  EXPECT_EQ((range(3) | repeat() | repeat(2)).cardinality(), kEndless);
  EXPECT_EQ((range(3) | repeat() | repeat(0)).cardinality(), 0);
  EXPECT_EQ((range(3) | as_stream() | repeat(2)).cardinality(), std::nullopt);
}

TEST(Repeat, GivesEachRoundAnEpochOfItsOwn) {
  for (const Step& step : {take(-1), as_stream()}) {
    EXPECT_THAT(elements(epoch_of(2) | step | repeat(2), {.epochs = 2}),
                ElementsAre("0", "0", "1", "1", "2", "2", "3", "3"));
    const auto mixed = [](uint64_t e, uint64_t r) { return fmt::format("{}", static_cast<int64_t>(mix(e, r))); };
    EXPECT_THAT(answers(epoch_of(1) | step | repeat() | take(3), {.epoch = 5}),
                ElementsAre("5", mixed(5, 1), mixed(5, 2), "end"));
  }
  EXPECT_THAT(answers(epoch_of(1) | repeat(2) | repeat(3), {.epoch = 1}),
              ElementsAre("6", "7", "8", "9", "10", "11", "end"));
  EXPECT_EQ(answers(epoch_of(1) | repeat(2), {.epoch = ~uint64_t{0}}).front(), "-2") << "epochs go round";
}

TEST(Repeat, CountsUpToTheLastPosition) {
  EXPECT_EQ((range(kHuge) | repeat(1)).cardinality(), kHuge);
  EXPECT_EQ((range(1) | repeat(kEndless - 1)).cardinality(), kEndless - 1);
  EXPECT_THAT([] { range(kHuge) | repeat(2); },
              testing::ThrowsMessage<Exception>(HasSubstr("repeat: 2 times 4611686018427387904 is more")));
  EXPECT_THROW(range(1) | repeat(kEndless), Exception);
  EXPECT_THROW(range(kHuge) | evens() | repeat(2), Exception);
  EXPECT_THAT(elements(range(kHuge) | as_stream() | repeat(kHuge) | take(1)), ElementsAre("0"));
}

TEST(Repeat, WithoutAnEndStopsAtARoundThatGivesNothing) {
  const auto never = filter([](int64_t) { return false; });
  for (const Dataset& input : each_kind(3)) {
    EXPECT_THAT(elements(input | never | repeat()), ElementsAre(HasSubstr(kFutile)));
    EXPECT_THAT(elements(input | never | repeat(3)), IsEmpty());
  }
  EXPECT_THAT(elements(range(0) | repeat()), IsEmpty());
  EXPECT_THAT(elements(range(0) | evens() | repeat()), IsEmpty());
  const auto only_first = script({}) | repeat();
  EXPECT_THAT(answers(only_first), ElementsAre(HasSubstr("no element in round 0"), "end"));
}

TEST(Repeat, KeepsTheContract) {
  for (const Dataset& input : each_kind(3)) {
    check_contract(input | repeat(3));
    check_contract(input | repeat(2) | repeat(2));
    check_contract(input | repeat() | take(7));
    check_contract(input | repeat() | skip(2) | repeat(2) | take(5));
  }
  check_contract(range(5) | evens() | repeat(2) | take(4) | repeat(2));
  check_contract(epoch_of(2) | as_stream() | repeat(3));
  check_contract(range(3) | repeat(0));
}

TEST(Repeat, PassesOnWaitingAndErrors) {
  EXPECT_THAT(answers(script({"1", "pending", "bad", "2"}) | repeat(2)),
              ElementsAre("1", "pending", "!bad", "2", "1", "pending", "!bad", "2", "end"));
}

TEST(Repeat, RefusesTheStateOfAnotherCountAndAnImpossibleRound) {
  Sequence sequence(range(5) | repeat(2));
  ASSERT_TRUE(sequence.next());
  EXPECT_FALSE(Sequence::restored(range(5) | repeat(3), {}, sequence.state()));
  const Dataset dataset = range(5) | as_stream() | repeat(2);
  PlainFeed feed;
  const auto iterator = open(*dataset.node(), {}, feed);
  const std::string round_3("\x06\x00\x00", 3);
  StateVisitor visitor = StateVisitor::restoring(round_3);
  iterator->visit_state(visitor);
  EXPECT_FALSE(visitor.ok());
}

}  // namespace
}  // namespace headpond::internal

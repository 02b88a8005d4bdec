// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Skip, LeavesOutTheFirstElements) {
  EXPECT_THAT(elements(range(5) | skip(3), {}, true), ElementsAre("3 #3", "4 #4"));
  EXPECT_THAT(elements(range(3) | skip(0)), ElementsAre("0", "1", "2"));
  EXPECT_THAT(elements(range(3) | skip(3)), IsEmpty());
  EXPECT_THAT(elements(range(3) | skip(9)), IsEmpty());
  EXPECT_THAT(elements(range(3) | skip(-1)), IsEmpty());
  EXPECT_THAT(elements(range(0) | skip(1)), IsEmpty());
}

TEST(Skip, CountsWhatAFilterLeaves) {
  const Dataset dataset = range(9) | evens() | skip(2);
  EXPECT_EQ(dataset.kind(), Kind::stream);
  EXPECT_THAT(elements(dataset, {}, true), ElementsAre("4 #4", "6 #6", "8 #8"));
  EXPECT_THAT(elements(range(3) | evens() | skip(5)), IsEmpty());
}

TEST(Skip, KeepsPositionsAndTheCardinality) {
  EXPECT_EQ((range(5) | skip(3)).kind(), Kind::indexed);
  EXPECT_EQ((range(5) | skip(3)).cardinality(), 2);
  EXPECT_EQ((range(5) | skip(-3)).cardinality(), 0);
  EXPECT_EQ((range(5) | evens() | skip(1)).cardinality(), std::nullopt);
  EXPECT_EQ((range(5) | evens() | skip(5)).cardinality(), 0);
  EXPECT_EQ((range(kHuge) | skip(kHuge - 1)).cardinality(), 1);
}

TEST(Skip, OfAnEndlessOneIsEndless) {
  EXPECT_EQ((range(3) | repeat() | skip(kHuge)).cardinality(), kEndless);
  EXPECT_THAT(elements(range(3) | repeat() | skip(4) | take(2)), ElementsAre("1", "2"));
  EXPECT_THAT(elements(range(3) | repeat() | skip(-1)), IsEmpty());
  EXPECT_THAT(elements(range(3) | as_stream() | repeat() | skip(-1)), IsEmpty()) << "would look for the end for ever";
}

TEST(Skip, HasNoPlaceBeyondTheLastNumber) {
  const auto all = elements(range(3) | repeat() | skip(kHuge) | skip(kHuge - 1) | take(2));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0], fmt::format("{}", (2 * (kHuge % 3) - 1) % 3));
  EXPECT_THAT(all[1], HasSubstr("skip(count=4611686018427387904): its input has no position"));
}

TEST(Skip, KeepsTheContract) {
  check_contract(range(7) | skip(4));
  check_contract(range(7) | evens() | skip(1));
  check_contract(range(7) | as_stream() | skip(4));
  check_contract(range(3) | skip(4));
  check_contract(range(9) | skip(2) | evens() | skip(1) | skip(1));
}

TEST(Skip, PassesOnWaitingAndErrors) {
  EXPECT_THAT(answers(script({"1", "pending", "bad", "2", "pending", "3", "ugly", "4"}) | skip(2)),
              ElementsAre("pending", "!bad", "pending", "3", "!ugly", "4", "end"));
}

TEST(Skip, RefusesTheStateOfAnotherCount) {
  Sequence sequence(range(5) | skip(1));
  ASSERT_TRUE(sequence.next());
  const auto restored = Sequence::restored(range(5) | skip(2), {}, sequence.state());
  ASSERT_FALSE(restored);
  EXPECT_THAT(restored.error().message(), HasSubstr("the state has 'skip(count=1)', the pipeline has 'skip(count=2)'"));
}

}  // namespace
}  // namespace headpond::internal

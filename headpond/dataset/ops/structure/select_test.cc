// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(Select, GivesTheElementsOfAList) {
  EXPECT_THAT(elements(range(5) | select({3, 0, 4}), {}, true), ElementsAre("3 #3", "0 #0", "4 #4"));
  EXPECT_THAT(elements(range(5) | select({2, 1, 2, 2}), {}, true),
              ElementsAre(keyed(2, 2), keyed(1, 1), keyed(2, 2, 1), keyed(2, 2, 2)));
  EXPECT_THAT(elements(range(5) | select({})), IsEmpty());
  EXPECT_EQ((range(5) | select({2, 1, 2})).cardinality(), 3);
  EXPECT_THAT(elements(counter() | select({kHuge})), ElementsAre(fmt::format("{}", kHuge)));
}

TEST(Select, RefusesWhatTheInputDoesNotHave) {
  EXPECT_THAT([] { select({1, -1}); }, ThrowsMessage<Exception>(HasSubstr("select: index -1: must be at least 0")));
  EXPECT_THAT([] { range(5) | select({1, 5}); }, ThrowsMessage<Exception>(HasSubstr("index 5 of an input of 5")));
  EXPECT_THROW(range(5) | evens() | select({1}), Exception);
  EXPECT_THROW(range(5) | as_stream() | select({1}), Exception);
}

TEST(Select, KeepsTheContract) {
  check_contract(range(5) | select({3, 0, 4}));
  check_contract(range(5) | select({3, 3, 0, 3, 4, 0}) | repeat(2) | random_u32());
  check_contract(range(5) | batch(2) | select({2, 0, 0}));
  check_contract(range(5) | select({}));
}

TEST(Select, RefusesTheStateOfAnotherList) {
  Sequence sequence(range(5) | select({1, 2}));
  ASSERT_TRUE(sequence.next());
  EXPECT_FALSE(Sequence::restored(range(5) | select({2, 1}), {}, sequence.state()));
}

}  // namespace
}  // namespace headpond::internal

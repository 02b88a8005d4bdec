// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(AssertCardinality, PassesTheNumberThatItExpects) {
  EXPECT_THAT(elements(range(3) | assert_cardinality(3), {}, true), ElementsAre("0 #0", "1 #1", "2 #2"));
  EXPECT_THAT(elements(range(5) | evens() | assert_cardinality(3)), ElementsAre("0", "2", "4"));
  EXPECT_THAT(elements(range(0) | as_stream() | assert_cardinality(0)), IsEmpty());
  EXPECT_EQ((range(3) | assert_cardinality(3)).kind(), Kind::indexed);
  EXPECT_EQ((counter() | assert_cardinality(-1)).cardinality(), kEndless);
  EXPECT_EQ((range(5) | evens() | assert_cardinality(3)).kind(), Kind::stream);
}

TEST(AssertCardinality, RefusesAnotherNumberWhenItIsKnown) {
  EXPECT_THAT(
      [] { range(3) | assert_cardinality(4); },
      ThrowsMessage<Exception>(HasSubstr("FailedPrecondition: assert_cardinality: expected 4 elements, the input "
                                         "has 3 elements")));
  EXPECT_THAT([] { counter() | assert_cardinality(4); }, ThrowsMessage<Exception>(HasSubstr("the input has no end")));
}

TEST(AssertCardinality, FailsWhereAStreamDiffers) {
  EXPECT_THAT(answers(script({"1", "2", "3"}) | assert_cardinality(2)),
              ElementsAre("1", "2", "!assert_cardinality: expected 2 elements, the input has more", "end"));
  EXPECT_THAT(answers(script({"1"}) | assert_cardinality(2)),
              ElementsAre("1", "!assert_cardinality: expected 2 elements, the input has 1 elements", "end"));
  EXPECT_THAT(answers(script({"1"}) | assert_cardinality(-1)),
              ElementsAre("1", "!assert_cardinality: expected no end, the input has 1 elements", "end"));
  EXPECT_THAT(answers(script({"pending", "bad", "2"}) | assert_cardinality(2)),
              ElementsAre("pending", "!bad", "2", "end"))
      << "an element that failed counts";
}

TEST(AssertCardinality, KeepsTheContract) {
  check_contract(range(5) | assert_cardinality(5));
  check_contract(range(5) | batch(2) | assert_cardinality(3));
  check_contract(range(5) | evens() | assert_cardinality(3));
  check_contract(range(5) | as_stream() | assert_cardinality(5));
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

Dataset wide() {
  const std::vector<int64_t> values = {5, 6};
  const Tensor tensor = Tensor::from(std::span<const int64_t>(values), {2});
  return from_tensor_slices({{"a", tensor}, {"b", tensor}, {"c", tensor}, {"d", tensor}});
}

TEST(Enumerate, PutsANumberInFront) {
  EXPECT_THAT(elements(range(5, 8) | enumerate(), {}, true), ElementsAre("0, 5 #0", "1, 6 #1", "2, 7 #2"));
  EXPECT_THAT(elements(range(5, 7) | enumerate(-1)), ElementsAre("-1, 5", "0, 6"));
  EXPECT_THAT(elements(range(0) | enumerate()), IsEmpty());
  EXPECT_EQ(to_string((range(3) | enumerate()).spec()), "{'index': int64[], 1: int64[]}");
}

TEST(Enumerate, NumbersWhatAFilterLeaves) {
  const Dataset dataset = range(5) | evens() | enumerate(7);
  EXPECT_EQ(dataset.kind(), Kind::stream);
  EXPECT_THAT(elements(dataset, {}, true), ElementsAre("7, 0 #0", "8, 2 #2", "9, 4 #4"));
}

TEST(Enumerate, TakesMoreFieldsThanAnElementHasRoomFor) {
  EXPECT_THAT(elements(wide() | enumerate()), ElementsAre("0, 5, 5, 5, 5", "1, 6, 6, 6, 6"));
  check_contract(wide() | enumerate());
}

TEST(Enumerate, KeepsPositionsAndTheCardinality) {
  EXPECT_EQ((range(5) | enumerate()).kind(), Kind::indexed);
  EXPECT_EQ((range(5) | enumerate()).cardinality(), 5);
  EXPECT_EQ((range(5) | repeat() | enumerate()).cardinality(), kEndless);
  EXPECT_EQ((range(5) | enumerate()).node()->facts().role, Role::other) << "it leaves none out";
  EXPECT_THAT(elements(range(2) | repeat() | enumerate() | skip(3) | take(1)), ElementsAre("3, 1"));
}

TEST(Enumerate, KeepsTheContract) {
  check_contract(range(7) | enumerate(3));
  check_contract(range(7) | evens() | enumerate());
  check_contract(range(7) | as_stream() | enumerate(-2));
  check_contract(range(7) | as_stream() | enumerate() | repeat(2));
}

TEST(Enumerate, PassesOnWaitingAndErrorsAndCountsNeither) {
  EXPECT_THAT(answers(script({"5", "pending", "bad", "6"}) | enumerate()),
              ElementsAre("0, 5", "pending", "!bad", "1, 6", "end"));
}

TEST(Enumerate, RefusesASecondIndexAndNumbersBeyondTheLast) {
  const Tensor one = Tensor::empty(DType::i64, {1});
  EXPECT_THAT(
      [&] {
        from_tensor_slices({{"index", one}}) | enumerate();
      },
      ThrowsMessage<Exception>(
          HasSubstr("enumerate: two fields named 'index' in {'index': int64[], 'index': int64[]}")));
  EXPECT_THAT([] { range(2) | enumerate(kEndless - 1); },
              ThrowsMessage<Exception>(HasSubstr("start=9223372036854775806 and 2 elements go beyond")));
  EXPECT_THAT(elements(range(1) | enumerate(kEndless - 1)), ElementsAre("9223372036854775806, 0"));
  const auto endless = elements(range(1) | repeat() | enumerate(kEndless) | take(2));
  ASSERT_EQ(endless.size(), 2U);
  EXPECT_EQ(endless[0], "9223372036854775807, 0");
  EXPECT_THAT(endless[1], HasSubstr("no number for 1"));
}

}  // namespace
}  // namespace headpond::internal

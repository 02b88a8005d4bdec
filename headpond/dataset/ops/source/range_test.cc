// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kLow = std::numeric_limits<int64_t>::min(), kHigh = std::numeric_limits<int64_t>::max();

TEST(Range, GivesNumbersWithTheirPlaceAsKey) {
  EXPECT_THAT(elements(range(3), {}, true), ElementsAre("0 #0", "1 #1", "2 #2"));
  EXPECT_THAT(elements(range(5, 8), {}, true), ElementsAre("5 #0", "6 #1", "7 #2"));
  EXPECT_THAT(elements(range(0, 7, 3)), ElementsAre("0", "3", "6"));
  EXPECT_THAT(elements(range(0, 6, 3)), ElementsAre("0", "3"));
  EXPECT_THAT(elements(range(2, -3, -2)), ElementsAre("2", "0", "-2"));
  EXPECT_THAT(elements(range(0)), IsEmpty());
  EXPECT_THAT(elements(range(-3)), IsEmpty());
  EXPECT_THAT(elements(range(3, 3)), IsEmpty());
  EXPECT_THAT(elements(range(0, 5, -1)), IsEmpty());
}

TEST(Range, IsIndexedNumbers) {
  EXPECT_EQ(range(3).kind(), Kind::indexed);
  EXPECT_EQ(to_string(range(3).spec()), "{0: int64[]}");
  EXPECT_EQ(range(2, 9, 3).plan(), "range(start=2, stop=9, step=3)\n");
}

TEST(Range, CountsToTheLimits) {
  EXPECT_EQ(range(kHigh - 1).cardinality(), kHigh - 1);
  EXPECT_EQ(range(kLow, kHigh, 3).cardinality(), 6148914691236517205);
  EXPECT_THAT(elements(range(kLow, kHigh, kHigh)), ElementsAre("-9223372036854775808", "-1", "9223372036854775806"));
  EXPECT_THAT(elements(range(kHigh, kLow, kLow)), ElementsAre("9223372036854775807", "-1"));
  EXPECT_THAT([] { range(kHigh); },
              testing::ThrowsMessage<Exception>(HasSubstr("range: 0 to 9223372036854775807 is more than 2^63 - 2")));
  EXPECT_THROW(range(kLow, kHigh), Exception);
  EXPECT_THROW(range(kLow, kHigh, 2), Exception);
}

TEST(Range, IsTheSourceOfItsElements) {
  Sequence sequence(range(5, 8));
  (void)sequence.next();
  EXPECT_EQ(to_string(sequence.next()->provenance), "range, record 1");
}

TEST(Range, RefusesAStepOfNothing) {
  EXPECT_THAT([] { range(0, 5, 0); }, testing::ThrowsMessage<Exception>(HasSubstr("range: a step of 0 never ends")));
}

TEST(Range, KeepsTheContract) {
  check_contract(range(5));
  check_contract(range(0));
  check_contract(range(9, -4, -3));
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(Counter, CountsWithoutEnd) {
  EXPECT_THAT(elements(counter() | take(3), {}, true), ElementsAre("0 #0", "1 #1", "2 #2"));
  EXPECT_THAT(elements(counter(5, -2) | take(3)), ElementsAre("5", "3", "1"));
  EXPECT_THAT(elements(counter(7, 0) | take(2)), ElementsAre("7", "7"));
  EXPECT_THAT(elements(counter() | take(0)), IsEmpty());
  EXPECT_EQ(counter().cardinality(), kEndless);
  EXPECT_EQ(counter(1, 2).plan(), "counter(start=1, step=2)\n");
}

TEST(Counter, EndsInErrorsBeyondTheLastNumber) {
  constexpr int64_t kHigh = std::numeric_limits<int64_t>::max(), kLow = std::numeric_limits<int64_t>::min();
  EXPECT_THAT(elements(counter(kHigh - 1) | take(3)),
              ElementsAre(fmt::format("{}", kHigh - 1), fmt::format("{}", kHigh), HasSubstr("number 2 is beyond 64")));
  EXPECT_THAT(elements(counter(kLow, kHigh) | take(3)), ElementsAre(fmt::format("{}", kLow), "-1", testing::_));
}

TEST(Counter, KeepsTheContract) { check_contract(counter(3, 4) | take(6)); }

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

bool is_even(int64_t x) { return x % 2 == 0; }

TEST(Take, GivesTheFirstElements) {
  EXPECT_THAT(elements(range(5) | take(3)), ElementsAre("0", "1", "2"));
  EXPECT_THAT(elements(range(5) | take(9)), ElementsAre("0", "1", "2", "3", "4"));
  EXPECT_THAT(elements(range(5) | take(0)), IsEmpty());
  EXPECT_THAT(elements(range(2) | take(-1)), ElementsAre("0", "1"));
}

TEST(Take, CountsWhatAFilterLeaves) {
  const Dataset dataset = range(20) | filter(&is_even) | take(3);
  EXPECT_EQ(dataset.kind(), Kind::stream);
  EXPECT_THAT(elements(dataset), ElementsAre("0", "2", "4"));
  EXPECT_THAT(elements(range(3) | filter(&is_even) | take(3)), ElementsAre("0", "2"));
}

TEST(Take, KeepsPositionsAndTheCardinality) {
  EXPECT_EQ((range(5) | take(3)).cardinality(), 3);
  EXPECT_EQ((range(5) | take(7)).cardinality(), 5);
  EXPECT_EQ((range(5) | take(-7)).cardinality(), 5);
  EXPECT_EQ((range(20) | filter(&is_even) | take(3)).cardinality(), std::nullopt);
}

TEST(Take, KeepsTheContract) {
  check_contract(range(7) | take(4));
  check_contract(range(7) | filter(&is_even) | take(3));
  check_contract(range(7) | as_stream() | take(4));
}

TEST(Take, CountsNoErrors) {
  const auto fails_at_1 = [](int64_t x) -> Result<int64_t> {
    if (x == 1) return fail(ErrorKind::DataLoss, "bad");
    return x;
  };
  const auto all = elements(range(9) | as_stream() | map(fails_at_1) | take(3));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_THAT(all[1], testing::HasSubstr("range, record 1: bad"));
  EXPECT_THAT(all[3], "3");
}

}  // namespace
}  // namespace headpond::internal

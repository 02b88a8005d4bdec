// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Window, StacksWindows) {
  struct Case {
    int64_t size;
    WindowOptions options;
    std::vector<std::string> expected;
  };
  const std::vector<Case> cases = {
      {3, {}, {"[0 1 2]", "[3 4 5]", "[6]"}},
      {3, {.drop_remainder = true}, {"[0 1 2]", "[3 4 5]"}},
      {3, {.shift = 2}, {"[0 1 2]", "[2 3 4]", "[4 5 6]", "[6]"}},
      {3, {.shift = 2, .drop_remainder = true}, {"[0 1 2]", "[2 3 4]", "[4 5 6]"}},
      {2, {.shift = 3}, {"[0 1]", "[3 4]", "[6]"}},
      {2, {.shift = 1, .stride = 3}, {"[0 3]", "[1 4]", "[2 5]", "[3 6]", "[4]", "[5]", "[6]"}},
      {2, {.shift = 1, .stride = 3, .drop_remainder = true}, {"[0 3]", "[1 4]", "[2 5]", "[3 6]"}},
      {3, {.shift = 4, .stride = 3}, {"[0 3 6]", "[4]"}},
      {1, {}, {"[0]", "[1]", "[2]", "[3]", "[4]", "[5]", "[6]"}},
      {9, {}, {"[0 1 2 3 4 5 6]"}},
      {9, {.drop_remainder = true}, {}},
  };
  for (const Case& c : cases) {
    for (const Dataset& input : each_kind(range(7))) {
      const Dataset dataset = input | window(c.size, c.options);
      EXPECT_EQ(elements(dataset), c.expected) << dataset.plan();
      check_contract(dataset);
    }
  }
  EXPECT_THAT(elements(range(0) | window(3)), IsEmpty());
}

TEST(Window, HasPositionsIfItsInputHas) {
  const Dataset dataset = range(10) | enumerate() | window(3, {.shift = 2, .drop_remainder = true});
  EXPECT_EQ(dataset.kind(), Kind::indexed);
  EXPECT_EQ(dataset.cardinality(), 4);
  EXPECT_EQ(to_string(dataset.spec()), "{'index': int64[3], 1: int64[3]}");
  EXPECT_EQ(dataset.node()->facts().role, Role::batch);
  check_contract(dataset | shuffle());
  EXPECT_EQ((counter() | window(2)).cardinality(), kEndless);
  EXPECT_EQ((range(5) | as_stream() | window(2)).kind(), Kind::stream);
}

TEST(Window, GivesWhatIsMadeOfEachWindow) {
  const Dataset reversed = range(6) | window(3, select({2, 0}), {.drop_remainder = true});
  EXPECT_THAT(elements(reversed), ElementsAre("2", "0", "5", "3"));
  const Dataset padded = sequences({1, 2, 3}) | window(2, padded_batch(2), {.shift = 1});
  EXPECT_THAT(elements(padded), ElementsAre("[2,2][1 0 11 12]", "[2,3][11 12 0 21 22 23]", "[1,3][21 22 23]"));
  check_contract(padded);
  for (const Dataset& input : each_kind(range(9))) {
    check_contract(input | window(4, shuffle(), {.shift = 2, .stride = 2}));
    check_contract(input | window(3, repeat(2) | batch(4), {.shift = 4}));
    check_contract(input | window(3, take(0)));
  }
  EXPECT_THAT((range(6) | window(2, batch(2))).plan(),
              HasSubstr("window(size=2, shift=2, stride=1, drop_remainder=false, elements() | batch(batch_size=2"));
}

TEST(Window, LeavesOutElementsThatFail) {
  const Dataset dataset = range(7) | failing_at({1, 4}) | window(2, {.shift = 1});
  EXPECT_THAT(elements(dataset),
              ElementsAre(HasSubstr("bad"), "[0 2]", "[2 3]", HasSubstr("bad"), "[3 5]", "[5 6]", "[6]"));
  check_errors_come_once(dataset);
  check_errors_come_once(range(7) | failing_at({1, 4}) | as_stream() | window(2, {.shift = 3, .stride = 2}));
  check_errors_come_once(range(16) | failing_at({1, 4, 7, 10, 13}) | batch(2) | window(2, {.shift = 2}));
  const Dataset unlike = sequences({1, 2, 2}) | window(2, {.shift = 1});
  EXPECT_THAT(elements(unlike), ElementsAre(HasSubstr("window 0: "), "[1,1][1]", "[2,2][11 12 21 22]", "[1,2][21 22]"));
}

TEST(Window, GivesErrorsThatAreInNoWindow) {
  const auto error = HasSubstr("bad");
  EXPECT_THAT(elements(range(7) | failing_at({6}) | window(3, {.drop_remainder = true})),
              ElementsAre("[0 1 2]", "[3 4 5]", error));
  EXPECT_THAT(elements(range(7) | failing_at({2}) | window(2, {.shift = 3})), ElementsAre("[0 1]", error, "[4 5]"));
  EXPECT_THAT(elements(range(7) | failing_at({1}) | window(2, {.shift = 2, .stride = 2, .drop_remainder = true})),
              ElementsAre(error, "[0 3]", "[3 5]"));
  check_errors_come_once(range(7) | failing_at({6}) | window(3, {.drop_remainder = true}));
}

TEST(Window, RefusesWhatCannotBe) {
  EXPECT_THROW(window(0), Exception);
  EXPECT_THROW(window(2, {.shift = 0}), Exception);
  EXPECT_THROW(window(2, {.stride = 0}), Exception);
  EXPECT_THROW(window(16'385), Exception);
  EXPECT_THROW(window(INT64_MAX, {.stride = INT64_MAX}), Exception);
  EXPECT_THROW(window(2, Step()), Exception);
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

int64_t last_digit(int64_t x) { return x % 10; }
Dataset pairs(int64_t, const Dataset& window) { return window | batch(2); }

TEST(GroupByWindow, ReducesWindowsOfOneKey) {
  for (const Dataset& input : each_kind(range(7) | map([](int64_t x) { return x * 7; }, {.name = "times"}))) {
    const Dataset dataset =
        input | group_by_window([](int64_t x) { return x % 2; }, pairs, {.window_size = 3, .name = "pairs"});
    EXPECT_THAT(elements(dataset), ElementsAre("[0 14]", "[28]", "[7 21]", "[35]", "[42]"));
    check_contract(dataset);
  }
}

TEST(GroupByWindow, TakesASizeForEachKey) {
  const GroupByWindowOptions options{.window_size_func = [](int64_t key) { return key + 1; }, .name = "sizes"};
  const auto batches = [](int64_t key, const Dataset& window) { return window | batch(key + 1); };
  const Dataset dataset = range(8) | group_by_window([](int64_t x) { return x % 3; }, batches, options);
  EXPECT_THAT(elements(dataset), ElementsAre("[0]", "[3]", "[1 4]", "[6]", "[7]", "[2 5]"));
  check_contract(dataset);
}

TEST(GroupByWindow, RunsWhateverDatasetIsMade) {
  const auto some = [](int64_t key, const Dataset& window) {
    return key == 0 ? window | repeat(2) : key == 1 ? window | shuffle() : window | take(0);
  };
  const Dataset dataset =
      range(20) | group_by_window([](int64_t x) { return x % 3; }, some, {.window_size = 3, .name = "some"});
  const auto all = elements(dataset);
  EXPECT_EQ(all.size(), 21U);
  EXPECT_THAT(std::vector(all.begin(), all.begin() + 6), ElementsAre("0", "3", "6", "0", "3", "6"));
  check_contract(dataset);
  check_contract(range(20) | as_stream() | group_by_window([](int64_t x) { return x % 3; }, some, {.window_size = 3}));
}

TEST(GroupByWindow, GivesTheOldestWindowIfTooManyAreHeld) {
  const GroupByWindowOptions options{.window_size = 9, .max_held = 3, .name = "few"};
  for (const Dataset& input : each_kind(range(6))) {
    const Dataset dataset = input | group_by_window(last_digit, pairs, options);
    EXPECT_THAT(elements(dataset), ElementsAre("[0]", "[1]", "[2]", "[3]", "[4]", "[5]"));
    check_contract(dataset);
    check_contract(input | repeat(2) | group_by_window(last_digit, pairs, options));
  }
}

TEST(GroupByWindow, GivesErrorsInTheirPlace) {
  const auto key = [](int64_t x) -> Result<int64_t> {
    if (x == 2) return fail(ErrorKind::DataLoss, "no key");
    return x % 2;
  };
  const auto reduce = [](int64_t key, const Dataset& window) {
    if (key == 1) throw std::runtime_error("no odd ones");
    return window | batch(2);
  };
  const GroupByWindowOptions options{.window_size = 2, .name = "failing"};
  const Dataset dataset = range(7) | failing_at({0}) | group_by_window(key, reduce, options);
  EXPECT_THAT(elements(dataset),
              ElementsAre(HasSubstr("bad"), HasSubstr("record 2: no key"), HasSubstr("window 0: no odd ones"), "[4 6]",
                          HasSubstr("window 2: no odd ones")));
  check_errors_come_once(dataset);
  const GroupByWindowOptions sizes{.window_size_func = [](int64_t x) { return x; }, .name = "sizes"};
  EXPECT_THAT(elements(range(2) | group_by_window(last_digit, pairs, sizes)),
              ElementsAre(HasSubstr("a window size of 0 for the key 0"), "[1]"));
}

TEST(GroupByWindow, RefusesWhatCannotBe) {
  EXPECT_THROW(group_by_window(last_digit, pairs, {}), Exception);
  EXPECT_THROW(group_by_window(last_digit, pairs, {.window_size = -1}), Exception);
  EXPECT_THROW(group_by_window(last_digit, pairs, {.window_size = 1, .window_size_func = last_digit}), Exception);
  EXPECT_THROW(group_by_window(last_digit, pairs, {.window_size = 1, .max_held = 16'385}), Exception);
  EXPECT_THROW(group_by_window(last_digit, nullptr, {.window_size = 1}), Exception);
  const Dataset dataset = range(9) | group_by_window(last_digit, pairs, {.window_size = 1});
  EXPECT_EQ(to_string(dataset.spec()), "{0: int64[?]}");
  EXPECT_EQ(dataset.node()->facts().role, Role::batch);
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

std::vector<int64_t> order(const Dataset& dataset, SequenceOptions options = {}) {
  std::vector<int64_t> all;
  for (const std::string& text : elements(dataset, options)) all.push_back(std::stoll(text));
  return all;
}

std::vector<int64_t> sorted(std::vector<int64_t> all) {
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<int64_t> counting(int64_t count) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

struct Displacement {
  double mean = 0;
  int64_t most = 0;
};
Displacement displacement(const std::vector<int64_t>& all) {
  Displacement found;
  for (size_t i = 0; i < all.size(); ++i) {
    const int64_t moved = std::abs(all[i] - static_cast<int64_t>(i));
    found.most = std::max(found.most, moved);
    found.mean += static_cast<double>(moved) / static_cast<double>(all.size());
  }
  return found;
}

bool is_third(int64_t x) { return x % 3 == 0; }

TEST(Shuffle, TakesNoOptionsForItsOptions) {
  const auto one = order(range(50) | shuffle({}));
  EXPECT_EQ(one, order(range(50) | shuffle()));
  EXPECT_EQ(order(range(50) | shuffle(size_t{7})), order(range(50) | shuffle({.window = 7})));
}

TEST(Shuffle, GivesEachElementOnceInAnotherOrderEachEpoch) {
  const auto two = order(range(1000) | shuffle(), {.seed = 1, .epochs = 2});
  const std::vector<int64_t> first(two.begin(), two.begin() + 1000), second(two.begin() + 1000, two.end());
  EXPECT_EQ(sorted(first), counting(1000));
  EXPECT_EQ(sorted(second), counting(1000));
  EXPECT_NE(first, second);
  EXPECT_NE(first, counting(1000));
  EXPECT_EQ(order(range(1000) | shuffle(), {.seed = 1}), first);
  EXPECT_NE(order(range(1000) | shuffle(), {.seed = 2}), first);
}

TEST(Shuffle, CanKeepItsOrder) {
  const auto two = order(range(50) | shuffle({.reshuffle_each_iteration = false}), {.epochs = 2});
  EXPECT_EQ(std::vector(two.begin(), two.begin() + 50), std::vector(two.begin() + 50, two.end()));
}

TEST(Shuffle, TwoInOnePipelineAreIndependent) {
  EXPECT_NE(order(range(100) | shuffle() | shuffle({.name = "other"})), counting(100));
  const auto twice = order(range(100) | shuffle() | shuffle());
  EXPECT_NE(twice, order(range(100) | shuffle()));
  EXPECT_EQ(sorted(twice), counting(100));
}

TEST(Shuffle, LeavesHolesWhereTheyAre) {
  const Dataset dataset = range(300) | filter(&is_third) | shuffle();
  EXPECT_EQ(dataset.kind(), Kind::sparse);
  EXPECT_EQ(order(dataset), order(range(300) | shuffle() | filter(&is_third)));
}

class Window : public testing::TestWithParam<int64_t> {};

TEST_P(Window, MovesEachElementLessThanTwiceItsSize) {
  const int64_t window = GetParam();
  for (const Dataset& input : {range(5000), range(5000) | as_stream()}) {
    const auto all = order(input | shuffle(window), {.seed = 3});
    EXPECT_EQ(sorted(all), counting(5000));
    EXPECT_LT(displacement(all).most, std::max<int64_t>(2 * window, 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Window, testing::Values(1, 2, 3, 7, 100, 999, 5000, 12345, int64_t{1} << 40));

TEST(Shuffle, MovesAnElementByAboutHalfTheWindow) {
  EXPECT_NEAR(displacement(order(range(40000) | shuffle(1000))).mean, 540, 20);
  EXPECT_NEAR(displacement(order(range(40000) | as_stream() | shuffle(1000))).mean, 500, 50);
}

// The control: blocks that are not shifted against each other never let an element leave its own.
TEST(Shuffle, ElementsCrossTheBordersOfBlocks) {
  const auto all = order(range(4000) | shuffle(100));
  int64_t crossed = 0;
  for (size_t i = 0; i < all.size(); ++i) crossed += all[i] / 100 != static_cast<int64_t>(i) / 100 ? 1 : 0;
  EXPECT_GT(crossed, 1000);
}

TEST(Shuffle, KeepsTheContract) {
  check_contract(range(23) | shuffle());
  check_contract(range(23) | shuffle(5));
  check_contract(range(23) | shuffle(100));
  check_contract(range(0) | shuffle());
  check_contract(range(1) | shuffle(3));
  check_contract(range(40) | filter(&is_third) | shuffle(4) | shuffle());
  check_contract(range(30) | as_stream() | shuffle(4));
  check_contract(range(30) | as_stream() | shuffle(100) | shuffle(3));
  check_contract(range(200) | as_stream() | shuffle(20), {.seed = 1});
}

TEST(Shuffle, SaysWhatItCannotDo) {
  const auto refused = [](const auto& make) -> std::string {
    try {
      make();
    } catch (const Exception& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(refused([] { (void)(range(9) | as_stream() | shuffle()); }), HasSubstr("a stream has no positions"));
  EXPECT_THAT(refused([] { (void)shuffle(0); }), HasSubstr("window of 0"));
  EXPECT_THAT(refused([] { (void)shuffle(-1); }), HasSubstr("window of -1"));
  EXPECT_THAT(refused([] { (void)shuffle(UINT64_MAX); }), HasSubstr("must be 1 to "));
}

TEST(Shuffle, OverAStreamGivesNoErrorTwiceWhenARestoredRunReadsAgain) {
  const Dataset plan = range(40) | as_stream() | map([](int64_t x) -> Result<int64_t> {
                         if (x % 10 == 3) return fail(ErrorKind::DataLoss, std::to_string(x));
                         return x;
                       }) |
                       shuffle(6);
  const auto take_all = [](Sequence& sequence, std::vector<std::string>* states) {
    std::vector<std::string> all;
    while (true) {
      const auto next = sequence.next();
      if (at_end(next)) return all;
      all.push_back(next ? text_of(*next) : next.error().message());
      if (states != nullptr) states->push_back(next ? sequence.state() : "");
    }
  };
  Sequence whole(plan);
  std::vector<std::string> states;
  const std::vector<std::string> all = take_all(whole, &states);
  ASSERT_EQ(all.size(), 40U);
  for (size_t i = 0; i < all.size(); ++i) {
    if (states[i].empty()) continue;
    auto restored = Sequence::restored(plan, {}, states[i]);
    ASSERT_TRUE(restored) << restored.error();
    EXPECT_EQ(restored->state(), states[i]);
    EXPECT_EQ(take_all(*restored, nullptr), std::vector(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end()));
  }
}

}  // namespace
}  // namespace headpond::internal

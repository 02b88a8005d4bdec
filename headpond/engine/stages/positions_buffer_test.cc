// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "headpond/engine/loader.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;

Result<int64_t> fails_at_sevens(int64_t x) {
  if (x % 7 == 0) return fail(ErrorKind::DataLoss, "seven");
  return x;
}
bool is_odd(int64_t x) { return x % 2 == 1; }

TEST(PositionsBuffer, GivesWhatIsAtThePositionsInTheirOrder) {
  for (const int threads : {0, 1, 4}) {
    Loader loader(range(9) | filter(&is_odd) | map(&fails_at_sevens), {.threads = threads});
    EXPECT_THAT(loader.next()->element(), testing::ResultOf([](const Element& e) { return text_of(e); }, "1"));
    EXPECT_THAT(rest_of(loader), ElementsAre("3", "5", testing::EndsWith("seven"))) << threads << " threads";
  }
}

TEST(PositionsBuffer, LeavesHolesOutAndTellsErrorsInTheirPlace) {
  const Dataset dataset = range(500) | shuffle() | filter(&is_odd) | map(&fails_at_sevens);
  const auto expected = elements(dataset, {.seed = 3, .epochs = 2});
  EXPECT_EQ(std::count_if(expected.begin(), expected.end(), [](const auto& text) { return text[0] == '!'; }), 2 * 36);
  for (const int threads : {0, 1, 4}) {
    EXPECT_EQ(loaded(dataset, {.epochs = 2, .seed = 3, .threads = threads}), expected) << threads << " threads";
  }
}

TEST(PositionsBuffer, ThatHasHolesOnlyEnds) {
  const Dataset dataset = range(300) | filter([](int64_t) { return false; });
  for (const int threads : {0, 2}) EXPECT_TRUE(loaded(dataset, {.epochs = 3, .threads = threads}).empty());
}

// Work items that `taken` elements came in.
int64_t units_of(const Dataset& dataset, const LoaderOptions& options, int taken) {
  Loader loader(dataset, options);
  for (int i = 0; i < taken; ++i) EXPECT_TRUE(loader.next());
  return loader.stats().stages.at(0).units;
}

TEST(PositionsBuffer, MakesCheapElementsManyAtATime) {
  const Dataset cheap = range(100000) | map([](int64_t x) { return x + 1; });
  EXPECT_LT(units_of(cheap, {.threads = 0}, 3000), 1000);
  EXPECT_EQ(units_of(cheap, {.threads = 0, .run_ahead = 0}, 3000), 3000) << "control: nothing that is not asked for";
  const Dataset waits = range(100000) | map([](int64_t x) { return x + 1; }, {.blocking = true});
  EXPECT_EQ(units_of(waits, {.threads = 0}, 300), 300) << "control: what waits is made one by one";
}

TEST(PositionsBuffer, MakesElementsOnSeveralThreadsAtOnce) {
  const auto most_of = [](int threads, int64_t patience_ms) {
    const auto crowd = std::make_shared<Crowd>();
    const Dataset dataset = range(4) | map([crowd, patience_ms](int64_t x) {
                              crowd->meet(2, patience_ms);
                              return x;
                            });
    EXPECT_THAT(loaded(dataset, {.threads = threads, .consumer_helps = false}), ElementsAre("0", "1", "2", "3"));
    return crowd->most.load();
  };
  EXPECT_EQ(most_of(2, 30'000), 2);
  EXPECT_EQ(most_of(1, 5), 1) << "control: one thread does not meet another";
}

TEST(PositionsBuffer, StandsAfterTheLastElementGivenNotAfterWhatIsAhead) {
  const Dataset dataset = range(60) | filter(&is_odd);
  Loader loader(dataset, {.threads = 4});
  Sequence sequence(dataset);
  for (int i = 0; i < 30; ++i) {
    ASSERT_EQ(text_of(loader.next()->element()), text_of(*sequence.next()));
    ASSERT_EQ(loader.state(), sequence.state()) << "after " << i;
  }
}

}  // namespace
}  // namespace headpond::internal

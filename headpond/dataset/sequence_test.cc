// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/sequence.h"

#include "headpond/dataset/run_state.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Sequence, GoesThroughEpochsAndStaysAtTheEnd) {
  Sequence sequence(range(2), {.epochs = 2});
  EXPECT_EQ(sequence.index(), -1);
  std::vector<std::string> seen;
  while (auto next = sequence.next().value()) {
    seen.push_back(fmt::format("{}/{}:{}", sequence.epoch(), sequence.index(), text_of(*next)));
  }
  EXPECT_THAT(seen, ElementsAre("0/0:0", "0/1:1", "1/0:0", "1/1:1"));
  EXPECT_EQ(sequence.next().value(), std::nullopt);
}

TEST(Sequence, OfAnEmptyDatasetEndsAtOnce) {
  EXPECT_EQ(Sequence(range(0)).next().value(), std::nullopt);
  EXPECT_EQ(Sequence(range(5), {.epochs = 0}).next().value(), std::nullopt);
}

TEST(Sequence, NamesTheFieldsOfWhatItGives) {
  const std::vector<int64_t> values = {4, 5};
  Sequence sequence(from_tensor_slices({{"label", Tensor::from(std::span<const int64_t>(values), {2})}}));
  EXPECT_EQ((**sequence.next())["label"].as<int64_t>()[0], 4);
}

TEST(Sequence, AnErrorStandsInItsPlaceAndNothingElseIsLost) {
  const auto bad = [](int64_t x) -> Result<int64_t> {
    if (x == 2) return fail(ErrorKind::DataLoss, "no two");
    return 10 * x;
  };
  EXPECT_THAT(elements(range(4) | map(bad)),
              ElementsAre("0", "10", HasSubstr("map(opaque), element 2, range, record 2: no two"), "30"));
}

TEST(Sequence, AsksAgainWhereAnIteratorHasNothingYet) {
  EXPECT_THAT(elements(script({"later", "1", "later", "later", "2", "later"}), {.epochs = 2}),
              ElementsAre("1", "2", "1", "2"));
}

TEST(Sequence, TheStateStaysBeforeAnError) {
  const auto bad = [](int64_t x) -> Result<int64_t> {
    if (x == 2) return fail(ErrorKind::DataLoss, "no two");
    return x;
  };
  const Dataset dataset = range(4) | map(bad);
  Sequence sequence(dataset);
  ASSERT_TRUE(sequence.next());
  ASSERT_TRUE(sequence.next());
  const std::string before = sequence.state();
  ASSERT_FALSE(sequence.next());
  EXPECT_EQ(sequence.state(), before);
  EXPECT_FALSE(Sequence::restored(dataset, {}, before)->next());
}

TEST(Sequence, HasOneStateForTheEndThatWasSeenAndTheNextBegin) {
  const Dataset dataset = range(2);
  Sequence one(dataset, {.epochs = 1});
  while (one.next().value()) {
  }
  auto next = Sequence::restored(dataset, {.epochs = 2}, one.state());
  ASSERT_TRUE(next);
  EXPECT_EQ(text_of(*next->next().value()), "0");
  EXPECT_EQ(next->epoch(), 1);
  EXPECT_EQ(Sequence::restored(dataset, {.epochs = 1}, one.state())->next().value(), std::nullopt);
}

TEST(Sequence, AnEndlessEpochCannotBeFollowedByAnother) {
  EXPECT_THROW(Sequence(range(3) | repeat(), {.epochs = 2}), Exception);
  EXPECT_TRUE(Sequence(range(3) | repeat()).next().value());
}

TEST(Sequence, RefusesAPositionThatThePipelineCannotHave) {
  const Dataset dataset = range(3);
  const std::string state = save({.epoch = 0, .index = 1, .position = std::string(1, '\x7f')}, dataset, 0);
  const auto restored = Sequence::restored(dataset, {}, state);
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().kind(), ErrorKind::DataLoss);
}

TEST(Sequence, WithoutAnEndOverNothingSaysSo) {
  Sequence sequence(range(0) | batch(2), {.epochs = -1});
  for (int i = 0; i < 2; ++i) {
    const auto next = sequence.next();
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().kind(), ErrorKind::FailedPrecondition);
  }
  Sequence ends(range(0) | batch(2), {.epochs = 3});
  EXPECT_FALSE(*ends.next()) << "a number of empty epochs is an end";
}

}  // namespace
}  // namespace headpond::internal

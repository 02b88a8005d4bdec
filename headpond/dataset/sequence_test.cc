// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/sequence.h"

#include "headpond/base/log.h"
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
  while (auto next = sequence.next()) {
    seen.push_back(fmt::format("{}/{}:{}", sequence.epoch(), sequence.index(), text_of(*next)));
  }
  EXPECT_THAT(seen, ElementsAre("0/0:0", "0/1:1", "1/0:0", "1/1:1"));
  for (int again = 0; again < 2; ++again) EXPECT_TRUE(at_end(sequence.next()));
}

TEST(Sequence, OfAnEmptyDatasetEndsAtOnce) {
  EXPECT_TRUE(at_end(Sequence(range(0)).next()));
  EXPECT_TRUE(at_end(Sequence(range(5), {.epochs = 0}).next()));
}

TEST(Sequence, NamesTheFieldsOfWhatItGives) {
  const std::vector<int64_t> values = {4, 5};
  Sequence sequence(from_tensor_slices({{"label", Tensor::from(std::span<const int64_t>(values), {2})}}));
  EXPECT_EQ((*sequence.next())["label"].as<int64_t>()[0], 4);
}

TEST(Sequence, AnErrorStandsInItsPlaceAndNothingElseIsLost) {
  const auto bad = [](int64_t x) -> Result<int64_t> {
    if (x == 2) return fail(ErrorKind::DataLoss, "no two");
    return 10 * x;
  };
  EXPECT_THAT(elements(range(4) | map(bad)),
              ElementsAre("0", "10", HasSubstr("map(opaque), range, record 2: no two"), "30"));
}

// A function may return what looks like the end.
TEST(Sequence, AnElementsErrorIsNeverTheEnd) {
  const auto ends = [](int64_t x) -> Result<int64_t> {
    if (x == 1) return fail(ErrorKind::OutOfRange, "no more");
    return x;
  };
  Sequence sequence(range(3) | map(ends));
  EXPECT_TRUE(sequence.next());
  const auto failed = sequence.next();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind(), ErrorKind::OutOfRange);
  EXPECT_FALSE(failed.error().is_end());
  EXPECT_THAT(failed.error().to_string(), HasSubstr("no more"));
  EXPECT_EQ(text_of(*sequence.next()), "2");
  EXPECT_TRUE(at_end(sequence.next()));
}

TEST(Sequence, AsksAgainWhereAnIteratorHasNothingYet) {
  EXPECT_THAT(elements(script({"pending", "1", "pending", "pending", "2", "pending"}), {.epochs = 2}),
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
  while (one.next()) continue;
  auto next = Sequence::restored(dataset, {.epochs = 2}, one.state());
  ASSERT_TRUE(next);
  EXPECT_EQ(text_of(*next->next()), "0");
  EXPECT_EQ(next->epoch(), 1);
  EXPECT_TRUE(at_end(Sequence::restored(dataset, {.epochs = 1}, one.state())->next()));
}

TEST(Sequence, NamesFunctionsThatAStateCannotCompareOnce) {
  const auto said_by = [](const Dataset& dataset) {
    std::string said;
    set_log_sink([&](LogLevel, std::string_view line) { said += line; });
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(Sequence::restored(dataset, {}, Sequence(dataset).state()));
    set_log_sink({});
    return said;
  };
  const auto same = [](int64_t x) { return x; };
  EXPECT_EQ(said_by(range(76) | map(same)),
            "a restored state cannot tell whether a function without a name has changed: map(opaque); give it a name");
  EXPECT_EQ(said_by(range(76) | map(same)), "") << "once";
  EXPECT_EQ(said_by(range(76) | map(same, {.name = "same"})), "") << "control";
}

TEST(Sequence, ThatWasMovedFromCanBeAssignedToAndNothingElse) {
  Sequence first(range(3)), second(range(9));
  (void)second.next();
  const std::string state = second.state();
  first = std::move(second);
  EXPECT_EQ(first.state(), state);
  EXPECT_EQ(text_of(*first.next()), "1");
  const auto refused = [&](auto&& call) {
    try {
      call();
    } catch (const Exception& e) {
      return e.error().kind() == ErrorKind::FailedPrecondition;
    }
    return false;
  };
  EXPECT_TRUE(refused([&] { (void)second.next(); }));  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(refused([&] { (void)second.state(); }));
  EXPECT_TRUE(refused([&] { (void)second.epoch(); }));
  EXPECT_TRUE(refused([&] { (void)second.index(); }));
  second = Sequence(range(2));
  EXPECT_EQ(text_of(*second.next()), "0");
}

TEST(Sequence, AnEndlessEpochCannotBeFollowedByAnother) {
  EXPECT_THROW(Sequence(range(3) | repeat(), {.epochs = 2}), Exception);
  EXPECT_TRUE(Sequence(range(3) | repeat()).next());
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
  EXPECT_TRUE(at_end(ends.next())) << "a number of empty epochs is an end";
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "headpond/dataset/ops/regroup/held_input_internal.h"
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const auto kLengths = std::vector<int64_t>{1, 3, 0, 5, 2, 3, 1, 2};

TEST(BucketBySequenceLength, PadsElementsOfSimilarLength) {
  for (const Dataset& input : each_kind(sequences(kLengths))) {
    const Dataset dataset = input | bucket_by_sequence_length("", {2, 4}, {2, 3, 1});
    EXPECT_THAT(elements(dataset), ElementsAre("[2,1][1 0]", "[1,5][31 32 33 34 35]",
                                               "[3,3][11 12 13 41 42 0 51 52 53]", "[1,1][61]", "[1,2][71 72]"));
    check_contract(dataset);
  }
}

TEST(BucketBySequenceLength, TakesAFunctionOfTheElement) {
  const Dataset dataset =
      range(6) | bucket_by_sequence_length([](int64_t x) { return x % 3; }, {1, 2}, {2, 1, 2}, {.name = "third"});
  EXPECT_THAT(elements(dataset), ElementsAre("[1]", "[0 3]", "[4]", "[2 5]"));
  check_contract(dataset);
  EXPECT_EQ(dataset.plan(),
            "range(start=0, stop=6, step=1)\nbucket_by_sequence_length(third, version=0, bucket_boundaries=1 2, "
            "bucket_batch_sizes=2 1 2, 0=[] pad 0, drop_remainder=false)\n");
}

TEST(BucketBySequenceLength, DropsRemainders) {
  const Dataset dataset =
      sequences(kLengths) | bucket_by_sequence_length("", {2, 4}, {2, 3, 1}, {.drop_remainder = true});
  EXPECT_EQ(elements(dataset).size(), 3U);
  check_contract(dataset);
}

TEST(BucketBySequenceLength, PadsToTheBoundary) {
  const Dataset dataset =
      sequences({1, 3, 2, 4}) |
      bucket_by_sequence_length("", {2, 4}, {1, 2, 1}, {.padding_values = {{"0", 9}}, .pad_to_bucket_boundary = true});
  EXPECT_THAT(elements(dataset),
              ElementsAre("[1,1][1]", "[2,3][11 12 13 21 22 9]", HasSubstr("range, record 3: a length of 4")));
  check_errors_come_once(dataset);
}

TEST(BucketBySequenceLength, PadsTextsWithAText) {
  const auto words = [](int64_t x) { return Tensor::from(std::vector<std::string>(static_cast<size_t>(x), "t"), {x}); };
  const Dataset dataset = range(1, 4) | map(words, {.output = {{"w", bytes, {kUnknown}}}, .name = "words"}) |
                          bucket_by_sequence_length("w", {9}, {3, 1}, {.padding_values = {{"w", "-"}}});
  EXPECT_THAT(elements(dataset), ElementsAre("[3,3]['t' '-' '-' 't' 't' '-' 't' 't' 't']"));
  check_contract(dataset);
}

TEST(BucketBySequenceLength, AsksForOneShapeWithoutPadding) {
  const Dataset dataset = sequences({2, 2, 3, 2}) | bucket_by_sequence_length("", {2}, {1, 2}, {.no_padding = true});
  EXPECT_THAT(
      elements(dataset),
      ElementsAre("[2,2][1 2 11 12]", HasSubstr("Cannot batch tensors with different shapes"), "[1,3][21 22 23]"));
  check_errors_come_once(dataset);
}

TEST(BucketBySequenceLength, GivesTheSameBatchesByLengthsThatAreKnown) {
  const std::vector<BucketOptions> all = {{}, {.drop_remainder = true}, {.pad_to_bucket_boundary = true}};
  for (const BucketOptions& options : all) {
    for (const Step& order : {take(8), shuffle()}) {
      const Dataset input = sequences(kLengths) | order;
      const std::vector<int64_t> bounds = {2, 4, 6}, sizes = {2, 3, 1, 2};
      const Dataset known = input | bucket_by_sequence_length(Lengths(kLengths), bounds, sizes, options);
      EXPECT_EQ(elements(known), elements(input | bucket_by_sequence_length("", bounds, sizes, options)));
      check_contract(known);
    }
  }
}

TEST(BucketBySequenceLength, ControlLengthsOfOtherElementsGiveOtherBatches) {
  const std::vector<int64_t> moved(kLengths.rbegin(), kLengths.rend());
  EXPECT_NE(elements(sequences(kLengths) | bucket_by_sequence_length(Lengths(moved), {2, 4}, {2, 3, 1})),
            elements(sequences(kLengths) | bucket_by_sequence_length("", {2, 4}, {2, 3, 1})));
}

TEST(BucketBySequenceLength, ByLengthsLeavesOutElementsThatFailOrAreTooLong) {
  const Dataset dataset = sequences({1, 3, 9, 2, 4}) |
                          bucket_by_sequence_length(Lengths({1, 3, 4, 2, 3}), {2, 4}, {1, 3, 1},
                                                    {.padding_values = {{"0", 9}}, .pad_to_bucket_boundary = true});
  EXPECT_THAT(elements(dataset), ElementsAre("[1,1][1]", HasSubstr("record 2: its length is 4 or more"),
                                             HasSubstr("record 4: "), "[2,3][11 12 13 31 32 9]"));
  check_errors_come_once(dataset);
}

// The kind of the error that a run begins with.
std::optional<ErrorKind> first_kind(const Dataset& dataset) {
  try {
    const auto next = Sequence(dataset).next();
    return next ? std::nullopt : std::optional(next.error().kind());
  } catch (const Exception& exception) {
    return exception.error().kind();
  }
}

TEST(BucketBySequenceLength, ByLengthsHasBucketsOfAnySize) {
  const std::vector<int64_t> ones(40, 1);
  const Dataset dataset = range(40) | bucket_by_sequence_length(Lengths(ones), {5}, {kMostHeld * 2, kMostHeld * 2});
  EXPECT_EQ(elements(dataset).size(), 1U);
  EXPECT_EQ(dataset.node()->facts().holds, 0);
  EXPECT_THROW(range(40) | bucket_by_sequence_length(Lengths(ones), {5}, {1}), Exception);
  EXPECT_THROW(range(40) | bucket_by_sequence_length(Lengths(ones), {5}, {1, 0}), Exception);
  EXPECT_THROW(range(40) | bucket_by_sequence_length(Lengths(ones), {5}, {1, 1}, {.name = "f"}), Exception);
  EXPECT_THROW(range(40) | as_stream() | bucket_by_sequence_length(Lengths(ones), {5}, {1, 1}), Exception);
  EXPECT_EQ(first_kind(range(41) | bucket_by_sequence_length(Lengths(ones), {5}, {1, 1})),
            ErrorKind::FailedPrecondition);
}

TEST(BucketBySequenceLength, HoldsARareElementForAWholeEpoch) {
  std::vector<int64_t> lengths(5'000, 1);
  lengths[0] = 9;
  const Dataset dataset = sequences(lengths) | bucket_by_sequence_length("", {5}, {10, 2});
  Sequence sequence(dataset);
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(sequence.next());
  EXPECT_LT(sequence.state().size(), 400U);
  const auto rest = rest_after(dataset, 400);
  ASSERT_EQ(rest.size(), 101U);
  EXPECT_EQ(rest.back(), "[1,9][1 2 3 4 5 6 7 8 9]");
}

TEST(BucketBySequenceLength, KeepsItsStateSmallWithAsManyElementsAsItMayHold) {
  const int64_t most = kMostHeld;
  const Dataset dataset =
      range(most + 1) | bucket_by_sequence_length([](int64_t x) { return x == kMostHeld ? 5 : 0; }, {5}, {most + 1, 1});
  Sequence sequence(dataset);
  ASSERT_TRUE(sequence.next());
  EXPECT_LT(sequence.state().size(), 64U * 1024U);
  EXPECT_THROW(range(9) | bucket_by_sequence_length([](int64_t x) { return x; }, {5}, {most + 1, 2}), Exception);
}

TEST(BucketBySequenceLength, RefusesWhatDoesNotFit) {
  const auto length = [](int64_t x) { return x; };
  EXPECT_THROW(range(9) | bucket_by_sequence_length(length, {5}, {1}), Exception);
  EXPECT_THROW(range(9) | bucket_by_sequence_length(length, {5}, {1, 0}), Exception);
  EXPECT_THROW(range(9) | bucket_by_sequence_length(length, {5, 5}, {1, 1, 1}), Exception);
  EXPECT_THROW(range(9) | bucket_by_sequence_length("", {5}, {1, 1}), Exception);
  EXPECT_THROW(range(9) | bucket_by_sequence_length([](float x) { return static_cast<int64_t>(x); }, {5}, {1, 1}),
               Exception);
  EXPECT_THROW(bucket_by_sequence_length([](int64_t x) { return x * 0.5; }, {5}, {1, 1}), Exception);
}

}  // namespace
}  // namespace headpond::internal

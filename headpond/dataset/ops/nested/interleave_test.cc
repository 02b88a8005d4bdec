// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

// x, x, ..., x: `count` times.
Dataset copies(int64_t x, int64_t count) { return range(x, x + 1) | repeat(count); }
const auto kRange = [](int64_t x) { return range(x); };

InterleaveOptions cycle(int64_t length, int64_t block) {
  return {.cycle_length = length, .block_length = block, .name = "copies"};
}

TEST(FlatMap, GivesOneDatasetAfterTheOther) {
  EXPECT_THAT(elements(range(4) | flat_map(kRange), {}, true),
              ElementsAre(keyed(0, mix(1, 0)), keyed(0, mix(2, 0)), keyed(1, mix(2, 1)), keyed(0, mix(3, 0)),
                          keyed(1, mix(3, 1)), keyed(2, mix(3, 2))));
  EXPECT_THAT(elements(range(0) | flat_map(kRange)), IsEmpty());
  EXPECT_THAT(elements(range(1) | flat_map(kRange)), IsEmpty());
  const auto slices = [](const Tensor& row) { return from_tensor_slices(row); };
  EXPECT_THAT(elements(range(5) | batch(2) | flat_map(slices)), ElementsAre("0", "1", "2", "3", "4"));
  const auto pairs = [](int64_t i, int64_t x) { return range(10 * i + x, 10 * i + x + 2); };
  EXPECT_THAT(elements(range(2) | enumerate(1) | flat_map(pairs)), ElementsAre("10", "11", "21", "22"));
  const auto whole = [](const Element& in) -> Result<Dataset> { return range(in[size_t{0}].item<int64_t>()); };
  EXPECT_THAT(elements(range(3) | flat_map(whole)), ElementsAre("0", "0", "1"));
}

TEST(Interleave, TakesTurnsAsTfDataDoes) {
  const auto six = [](int64_t x) { return copies(x, 6); };
  EXPECT_THAT(elements(range(1, 6) | interleave(six, cycle(2, 4))),
              ElementsAre("1", "1", "1", "1", "2", "2", "2", "2", "1", "1", "2", "2", "3", "3", "3", "3", "4", "4", "4",
                          "4", "3", "3", "4", "4", "5", "5", "5", "5", "5", "5"));
}

TEST(Interleave, HasPositionsIfTheInputAndTheDatasetsHave) {
  const auto of = [](const Dataset& dataset) { return std::pair(dataset.kind(), dataset.cardinality()); };
  EXPECT_EQ(of(range(4) | flat_map(kRange)), std::pair(Kind::indexed, std::optional<int64_t>(6)));
  EXPECT_EQ(of(range(4) | interleave(kRange)), std::pair(Kind::indexed, std::optional<int64_t>(6)));
  EXPECT_EQ((range(9) | evens() | interleave(kRange)).kind(), Kind::indexed) << "holes make no datasets";
  const auto filtered = [](int64_t x) { return range(x) | evens(); };
  EXPECT_EQ((range(4) | flat_map(filtered)).kind(), Kind::sparse);
  EXPECT_EQ((range(4) | interleave(filtered)).kind(), Kind::stream);
  EXPECT_EQ((range(4) | flat_map([](int64_t x) { return range(x) | batch(2); })).kind(), Kind::stream);
  EXPECT_EQ((range(4) | as_stream() | flat_map(kRange)).kind(), Kind::stream);
  EXPECT_EQ((counter() | flat_map(kRange)).kind(), Kind::stream);
  EXPECT_EQ((range(4) | flat_map(kRange, {.kind = Kind::stream})).kind(), Kind::stream);
  EXPECT_EQ((range(2) | flat_map([](int64_t) { return counter(); })).cardinality(), kEndless);
}

// What positions compute, an iterator does step by step.
TEST(Interleave, GivesTheSameWithAndWithoutPositions) {
  const auto some = [](int64_t x) -> Result<Dataset> {
    if (x % 7 == 3) return fail(ErrorKind::DataLoss, fmt::format("no {}", x));
    return range(x * 5 % 9) | shuffle() | random_u32();
  };
  for (const int64_t length : {1, 2, 3, 20}) {
    for (const int64_t block : {1, 2, 5}) {
      InterleaveOptions options = cycle(length, block);
      const Dataset input = range(13) | shuffle();
      const auto all = elements(input | interleave(some, options), {.seed = 5, .epochs = 2}, true);
      options.kind = Kind::stream;
      EXPECT_EQ(elements(input | interleave(some, options), {.seed = 5, .epochs = 2}, true), all);
    }
  }
  const Dataset input = range(13) | shuffle();
  EXPECT_EQ(elements(input | flat_map(some, {.name = "x"}), {.seed = 5}, true),
            elements(input | flat_map(some, {.kind = Kind::stream, .name = "x"}), {.seed = 5}, true));
}

TEST(Interleave, RandomNumbersDifferBetweenDatasets) {
  const auto drawn = [](int64_t) { return range(3) | random_u32() | map([](int64_t, uint32_t u) { return u; }); };
  const auto all = elements(range(2) | flat_map(drawn));
  ASSERT_EQ(all.size(), 6U);
  EXPECT_NE(all[0], all[3]);
}

TEST(Interleave, MakesADatasetOnceForEqualElements) {
  std::atomic<int> calls = 0;
  const auto counted = [&calls](int64_t x) {
    ++calls;
    return range(x);
  };
  const Dataset dataset = range(5) | shuffle() | flat_map(counted, {.output = {{"", i64, {}}}, .kind = Kind::indexed});
  EXPECT_EQ(calls, 0);
  (void)elements(dataset, {.seed = 3, .epochs = 3});
  EXPECT_EQ(calls, 5);
}

TEST(Interleave, AnErrorTakesThePlaceOfADataset) {
  const auto fails = [](int64_t x) -> Result<Dataset> {
    if (x == 1) return fail(ErrorKind::DataLoss, "no one");
    if (x == 2) throw std::runtime_error("two");
    if (x == 3) return range(1) | enumerate();
    if (x == 4) return range(3) | as_stream();
    return range(x, x + 1);
  };
  const std::vector<std::string> all = elements(range(6) | flat_map(fails, {.name = "f"}));
  EXPECT_THAT(
      all, ElementsAre("0", "!DataLoss: flat_map(f, version=0), range, record 1: no one",
                       HasSubstr("range, record 2: two"), HasSubstr("record 3: the datasets have {0: int64[]}, this"),
                       HasSubstr("record 4: this dataset does not have positions"), "5"));
  EXPECT_THAT(answers(script({"0", "bad", "pending", "1", "5"}) | flat_map(fails, {.name = "f"})),
              ElementsAre("0", "!bad", "pending", HasSubstr("no one"), "5", "end"));
}

TEST(Interleave, RefusesWhatDoesNotFit) {
  const auto never = [](int64_t x) -> Result<Dataset> {
    if (x == 0) return fail(ErrorKind::NotFound, "no file of that name");
    return range(x);
  };
  EXPECT_THAT(
      [&] { range(3) | flat_map(never); },
      ThrowsMessage<Exception>(HasSubstr("flat_map: the function fails for an element of zeros and empty texts, "
                                         "say .output: no file of that name")));
  EXPECT_THAT(elements(range(1, 3) | flat_map(never, {.output = {{"", i64, {}}}})), ElementsAre("0", "0", "1"));
  EXPECT_THROW(range(3) | interleave(kRange, cycle(0, 1)), Exception);
  EXPECT_THROW(range(3) | interleave(kRange, cycle(1, 0)), Exception);
  EXPECT_THROW(range(3) | as_stream() | interleave(kRange, cycle(2'001, 1)), Exception) << "the state's size";
  EXPECT_NO_THROW(range(3) | interleave(kRange, cycle(2'001, 1)));
  EXPECT_THROW(range(3) | flat_map([](std::string_view) { return range(1); }), Exception);
  Sequence sequence(range(3) | interleave(kRange, cycle(2, 1)));
  ASSERT_TRUE(sequence.next());
  EXPECT_FALSE(Sequence::restored(range(3) | interleave(kRange, cycle(3, 1)), {}, sequence.state()));
}

TEST(Interleave, RefusesEpochsOfOtherNumbers) {
  const auto drawn = [](uint32_t u) { return range(u % 50); };
  const Dataset words = range(3) | random_u32() | map([](int64_t, uint32_t u) { return u; }, {.name = "u"});
  const auto refused = elements(words | flat_map(drawn), {.seed = 1, .epochs = 5});
  EXPECT_THAT(refused, testing::Contains(HasSubstr("say .kind = Kind::stream")));
  const auto all = elements(words | flat_map(drawn, {.kind = Kind::stream}), {.seed = 1, .epochs = 2});
  EXPECT_GT(all.size(), 2U);
}

TEST(Interleave, KeepsTheContract) {
  const auto mixed = [](int64_t x) { return range(x * 3 % 5) | random_u32(); };
  const auto cached = [](int64_t x) { return range(x * 3 % 5) | evens() | cache(); };
  for (const Step& kind : {take(-1), evens(), as_stream()}) {
    check_contract(range(7) | kind | flat_map(mixed, {.name = "mixed"}));
    check_contract(range(7) | kind | flat_map(cached, {.name = "cached"}));
    check_contract(range(7) | kind | interleave(mixed, cycle(3, 2)));
    check_contract(range(7) | kind | interleave(mixed, {.kind = Kind::stream, .name = "mixed"}));
    check_contract(range(7) | kind | interleave(cached, cycle(2, 1)) | batch(3));
  }
  check_contract(range(7) | shuffle() | interleave(mixed, cycle(3, 1)) | repeat(2) | shuffle());
  check_contract(range(0) | interleave(mixed));
  check_contract(range(4) |
                 flat_map([](int64_t x) { return range(x) | flat_map(kRange, {.name = "inner"}); }, {.name = "outer"}));
}

}  // namespace
}  // namespace headpond::internal

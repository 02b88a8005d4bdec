// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/source/slices_internal.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(Zip, PutsElementsSideBySide) {
  EXPECT_THAT(elements(zip({range(3), range(5, 9)}), {}, true), ElementsAre("0, 5 #0", "1, 6 #1", "2, 7 #2"));
  EXPECT_THAT(elements(zip({range(5, 9), range(3) | skip(1)}), {}, true), ElementsAre("5, 1 #0", "6, 2 #1"));
  EXPECT_THAT(elements(zip({range(2)})), ElementsAre("0", "1"));
  EXPECT_THAT(elements(zip({range(2), range(0)})), IsEmpty());
  EXPECT_THAT(elements(zip({range(2), range(2), range(2), range(2), range(2), range(7, 9)})),
              ElementsAre("0, 0, 0, 0, 0, 7", "1, 1, 1, 1, 1, 8"));
}

TEST(Zip, HasKeyAndOriginOfTheFirst) {
  const auto second_has_key_2 = range(3) | skip(2) | as_stream();
  EXPECT_THAT(elements(zip({range(3) | skip(1), range(5) | skip(3)}), {}, true), ElementsAre("1, 3 #1", "2, 4 #2"));
  EXPECT_THAT(elements(zip({range(3) | skip(1), second_has_key_2}), {}, true), ElementsAre("1, 2 #1"));
  const Tensor row = Tensor::empty(DType::i64, {1});
  for (const Step& step : {take(-1), as_stream()}) {
    Sequence sequence(zip({slices("rows", "", "zip_test_a", {{"a", row}}) | step,
                           slices("rows", "", "zip_test_b", {{"b", row}}) | step}));
    const auto next = sequence.next();
    ASSERT_TRUE(next);
    EXPECT_EQ(to_string(next->provenance), "zip_test_a, record 0");
    EXPECT_EQ((*next)["b"].dtype(), DType::i64);
  }
}

TEST(Zip, NeedsPositionsOfAllInputs) {
  EXPECT_EQ(zip({range(3), range(4)}).kind(), Kind::indexed);
  EXPECT_EQ(zip({range(3), range(4)}).cardinality(), 3);
  EXPECT_EQ(zip({range(3) | repeat(), range(4)}).cardinality(), 4);
  EXPECT_EQ(zip({range(3) | repeat(), range(4) | repeat()}).cardinality(), kEndless);
  EXPECT_EQ(zip({range(3), range(4) | evens()}).kind(), Kind::stream);
  EXPECT_EQ(zip({range(3), range(4) | as_stream()}).kind(), Kind::stream);
  EXPECT_EQ(zip({range(3), range(4) | as_stream()}).cardinality(), std::nullopt);
  EXPECT_EQ(zip({range(0), range(4) | as_stream()}).cardinality(), 0);
}

TEST(Zip, CountsWhatAFilterLeaves) {
  EXPECT_THAT(elements(zip({range(3) | repeat(), range(7) | evens()}), {}, true),
              ElementsAre("0, 0 #0", "1, 2 #1", "2, 4 #2", fmt::format("0, 6 #{:x}", mix(0, 1))));
}

TEST(Zip, RefusesOneNameTwice) {
  const Dataset named = from_tensor_slices({{"x", Tensor::empty(DType::u8, {2})}});
  EXPECT_THAT([&] { zip({named, range(2), named}); }, ThrowsMessage<Exception>(HasSubstr("zip: two fields named 'x'")));
  EXPECT_EQ(to_string(zip({range(2), named, range(2)}).spec()), "{0: int64[], 'x': uint8[], 2: int64[]}");
  EXPECT_THAT([] { zip({}); }, ThrowsMessage<Exception>(HasSubstr("zip: no inputs")));
}

TEST(Zip, KeepsTheContract) {
  check_contract(zip({range(3), range(4)}));
  check_contract(zip({range(9) | evens(), range(4)}));
  check_contract(zip({range(3) | as_stream(), range(2) | evens(), range(4)}));
  check_contract(zip({zip({range(3), range(5)}) | enumerate(), range(2) | repeat()}) | repeat(2));
  check_contract(zip({range(2) | as_stream() | repeat(), epoch_of(3) | repeat(2)}) | skip(1));
}

TEST(Zip, HoldsElementsWhileAnotherInputWaits) {
  const Dataset first = script({"1", "2", "3"}), second = script({"pending", "5", "pending", "pending", "6"});
  EXPECT_THAT(answers(zip({first, second})), ElementsAre("pending", "1, 5", "pending", "pending", "2, 6", "end"));
  EXPECT_THAT(answers(zip({second, first})), ElementsAre("pending", "5, 1", "pending", "pending", "6, 2", "end"));
}

TEST(Zip, LosesTheRowOfAnElementThatFailedSoThatTheOthersStayInStep) {
  const Dataset first = script({"1", "bad", "2", "3", "4"}), second = script({"ugly", "5", "6", "worse", "7"});
  EXPECT_THAT(answers(zip({first, second})), ElementsAre("!ugly", "!bad", "2, 6", "!worse", "4, 7", "end"));
  EXPECT_THAT(answers(zip({first, second, script({"8", "9", "last", "10", "11"})})),
              ElementsAre("!ugly", "!bad", "!last", "!worse", "4, 7, 11", "end"));
  EXPECT_THAT(answers(zip({script({"bad", "1"}), script({"worse", "2"}), script({"3", "4"})})),
              ElementsAre("!bad", "1, 2, 4", "end"))
      << "the first of two errors is told";
}

TEST(Zip, FinishesTheRowOfAnErrorWhenWhatWaitsHasCome) {
  EXPECT_THAT(answers(zip({script({"bad", "1"}), script({"pending", "pending", "5", "6"})})),
              ElementsAre("pending", "pending", "!bad", "1, 6", "end"));
  EXPECT_THAT(answers(zip({script({"0", "1"}), script({"bad", "5"}), script({"pending", "worse", "8"})})),
              ElementsAre("pending", "!bad", "1, 5, 8", "end"));
}

TEST(Zip, EndsWhereARowCannotBeFinished) {
  EXPECT_THAT(answers(zip({script({"1", "bad"}), script({"5"})})), ElementsAre("1, 5", "end"));
  EXPECT_THAT(answers(zip({script({"1"}), script({"5", "bad"})})), ElementsAre("1, 5", "end"));
}

// Positions say which elements belong together; without them it must come out the same.
TEST(Zip, OfStreamsGivesTheRowsThatPositionsGive) {
  const auto two_fails = map([](int64_t x) -> Result<int64_t> {
    if (x == 2) return fail(ErrorKind::DataLoss, "no two");
    return x;
  });
  const auto outline = [](const Dataset& dataset) {
    std::vector<std::string> all = elements(dataset, {}, true);
    for (std::string& line : all) line = line.starts_with('!') ? "!" : line;
    return all;
  };
  const auto expected = ElementsAre("0, 5 #0", "1, 6 #1", "!", "3, 8 #3");
  EXPECT_THAT(outline(zip({range(4) | two_fails, range(5, 9)})), expected);
  EXPECT_THAT(outline(zip({range(4) | as_stream() | two_fails, range(5, 9)})), expected);
  EXPECT_THAT(outline(zip({range(4) | two_fails, range(5, 9) | as_stream()})), expected);
}

TEST(Zip, RestoresAfterErrorsAndWaiting) {
  const Dataset dataset =
      zip({script({"1", "bad", "2", "3", "0", "4"}), script({"5", "6", "pending", "9", "7", "ugly", "8"})});
  Sequence sequence(dataset);
  for (int i = 0; i < 4; ++i) (void)sequence.next();
  auto restored = Sequence::restored(dataset, {}, sequence.state());
  ASSERT_TRUE(restored) << restored.error();
  const auto failed = restored->next();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message(), "ugly");
  EXPECT_EQ(text_of(*restored->next()), "4, 8");
}

}  // namespace
}  // namespace headpond::internal

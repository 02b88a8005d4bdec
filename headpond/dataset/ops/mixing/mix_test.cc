// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/log.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(Mix, TakesElementsInTheirShares) {
  EXPECT_THAT(elements(mix({range(3), range(10, 13)}), {}, true),
              ElementsAre("0 #0", keyed(10, 0, 1), "1 #1", keyed(11, 1, 1), "2 #2", keyed(12, 2, 1)));
  EXPECT_THAT(elements(mix({range(2), range(10, 20)}, {1, 3})),
              ElementsAre("10", "0", "11", "12", "13", "1", "14", "15", "16"));
  EXPECT_THAT(elements(mix({range(3), range(0)}, {1, 0})), ElementsAre("0", "1", "2"));
  EXPECT_THAT(elements(mix({range(3), range(0)})), ElementsAre("0"));
  EXPECT_THAT(
      elements(mix({range(9), range(10, 19)}, std::vector<MixPhase>{{0, {1, 0}}, {2, {0, 1}}, {4, {1, 1}}}) | take(7)),
      ElementsAre("0", "1", "10", "11", "2", "12", "3"));
}

TEST(Mix, HasPositionsIfAllInputsHave) {
  EXPECT_EQ(mix({range(3), range(9)}).kind(), Kind::indexed);
  EXPECT_EQ(mix({range(3), range(9)}).cardinality(), 6);
  EXPECT_EQ(mix({range(3) | repeat(), counter()}).cardinality(), kEndless);
  EXPECT_EQ(mix({range(3) | repeat(), range(2)}).cardinality(), 5);
  EXPECT_EQ(mix({range(3) | evens(), range(9)}).kind(), Kind::sparse);
  EXPECT_EQ(mix({range(3) | as_stream(), range(9)}).kind(), Kind::stream);
  EXPECT_THAT(elements(mix({counter(), counter(100)}, {1, 1}) | skip(kHuge) | take(2)),
              ElementsAre(fmt::format("{}", kHuge / 2), fmt::format("{}", kHuge / 2 + 100)));
}

TEST(Mix, HolesTakePartButStreamsHaveNone) {
  EXPECT_THAT(elements(mix({range(6) | evens(), range(10, 16)})),
              ElementsAre("0", "10", "11", "2", "12", "13", "4", "14", "15"));
  EXPECT_THAT(elements(mix({range(6) | evens() | as_stream(), range(10, 16)})),
              ElementsAre("0", "10", "2", "11", "4", "12"));
}

TEST(Mix, RefusesWhatDoesNotFit) {
  EXPECT_THAT(
      [] {
        mix({range(3), range(3)}, std::vector<double>{1});
      },
      ThrowsMessage<Exception>(HasSubstr("1 weights for 2 inputs")));
  EXPECT_THAT([] { mix({range(3)}, std::vector<MixPhase>{}); }, ThrowsMessage<Exception>(HasSubstr("empty schedule")));
  EXPECT_THROW(mix({range(3)}, std::vector<MixPhase>{{1, {1}}}), Exception);
  EXPECT_THROW(mix({range(3)}, std::vector<MixPhase>{{0, {1}}, {0, {1}}}), Exception);
  Sequence sequence(mix({range(3), range(3)}, {1, 2}));
  ASSERT_TRUE(sequence.next());
  EXPECT_FALSE(Sequence::restored(mix({range(3), range(3)}, {2, 1}), {}, sequence.state()));
}

TEST(Mix, SaysWhichDatasetHasEnded) {
  std::vector<std::string> logged;
  const LogSink before = set_log_sink([&](LogLevel, std::string_view line) { logged.emplace_back(line); });
  const auto ends = [&](const Dataset& mixed) {
    logged.clear();
    (void)elements(mixed, {.epochs = 2});
    return logged;
  };
  const std::vector<std::string> both = {
      "mix: dataset 1 of 2 has no element for draw 5 of epoch 0, which ends before it",
      "mix: dataset 1 of 2 has no element for draw 5 of epoch 1, which ends before it",
  };
  EXPECT_EQ(ends(mix({range(30), range(2)})), both);
  EXPECT_EQ(ends(mix({range(30), range(2)}) | shuffle()), both) << "the last one, wherever it comes";
  EXPECT_EQ(ends(mix({range(30), range(2) | as_stream()})), both);
  EXPECT_THAT(ends(mix({counter(), range(2) | repeat()}) | take(9)), IsEmpty()) << "none ends";
  EXPECT_THAT(ends(mix({range(30), range(2)}) | take(4)), IsEmpty()) << "it does not come to that";
  set_log_sink(before);
}

TEST(Mix, KeepsTheContract) {
  check_contract(mix({range(5), range(9), range(3)}, {2, 3, 1}));
  check_contract(mix({range(5) | evens(), range(9)}));
  check_contract(mix({range(5) | as_stream(), range(9) | evens()}, {1, 2}));
  check_contract(mix({range(5) | batch(2), range(9) | batch(2)}));
  check_contract(mix({range(5) | batch(2) | filter([](const Tensor&) { return true; }), range(9) | batch(2)}));
  check_contract(mix({range(5), range(0)}) | repeat(2));
}

TEST(Mix, PassesOnWaitingAndErrors) {
  EXPECT_THAT(answers(mix({script({"1", "pending", "bad", "2", "3"}), script({"pending", "4", "5", "6"})})),
              ElementsAre("1", "pending", "4", "pending", "!bad", "5", "2", "6", "3", "end"));
}

}  // namespace
}  // namespace headpond::internal

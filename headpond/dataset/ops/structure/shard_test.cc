// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Shard, GivesEachNthElement) {
  EXPECT_THAT(elements(range(7) | shard(3, 0), {}, true), ElementsAre("0 #0", "3 #3", "6 #6"));
  EXPECT_THAT(elements(range(7) | shard(3, 1), {}, true), ElementsAre("1 #1", "4 #4"));
  EXPECT_THAT(elements(range(7) | shard(3, 2)), ElementsAre("2", "5"));
  EXPECT_THAT(elements(range(2) | shard(1, 0)), ElementsAre("0", "1"));
  EXPECT_THAT(elements(range(2) | shard(3, 2)), IsEmpty());
  EXPECT_THAT(elements(range(0) | shard(3, 0)), IsEmpty());
}

TEST(Shard, CountsWhatAFilterLeaves) {
  const Dataset dataset = range(12) | evens();
  EXPECT_EQ((dataset | shard(2, 1)).kind(), Kind::stream);
  EXPECT_THAT(elements(dataset | shard(2, 0), {}, true), ElementsAre("0 #0", "4 #4", "8 #8"));
  EXPECT_THAT(elements(dataset | shard(2, 1), {}, true), ElementsAre("2 #2", "6 #6", "10 #a"));
}

TEST(Shard, TogetherAreTheWholeOnce) {
  for (const Dataset& whole : {range(10), range(10) | as_stream()}) {
    std::vector<std::string> all;
    for (int64_t index = 0; index < 4; ++index) {
      const auto share = elements(whole | shard(4, index));
      all.insert(all.end(), share.begin(), share.end());
    }
    EXPECT_THAT(all, testing::UnorderedElementsAreArray(elements(whole)));
  }
}

TEST(Shard, KnowsItsCardinality) {
  for (const auto& [slots, index, expected] :
       std::vector<std::tuple<int64_t, int64_t, int64_t>>{{0, 0, 0}, {1, 0, 1}, {1, 1, 0}, {3, 2, 1}, {4, 0, 2}}) {
    EXPECT_EQ((range(slots) | shard(3, index)).cardinality(), expected) << slots << " " << index;
  }
  EXPECT_EQ((range(kEndless - 1) | shard(kEndless, 0)).cardinality(), 1);
  EXPECT_EQ((range(kEndless - 1) | shard(1, 0)).cardinality(), kEndless - 1);
  EXPECT_EQ((range(3) | repeat() | shard(2, 1)).cardinality(), kEndless);
  EXPECT_EQ((range(3) | as_stream() | shard(2, 1)).cardinality(), std::nullopt);
}

TEST(Shard, OfAnEndlessOne) {
  EXPECT_THAT(elements(range(3) | repeat() | shard(2, 1) | take(4)), ElementsAre("1", "0", "2", "1"));
  const auto all = elements(range(3) | repeat() | shard(kHuge, 5) | take(3));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0], "2");
  EXPECT_EQ(all[1], fmt::format("{}", (kHuge + 5) % 3));
  EXPECT_THAT(all[2], HasSubstr("shard(num_shards=4611686018427387904, index=5): its input has no position for 2"));
}

TEST(Shard, KeepsTheContract) {
  check_contract(range(7) | shard(3, 1));
  check_contract(range(17) | evens() | shard(3, 1));
  check_contract(range(7) | as_stream() | shard(3, 0));
  check_contract(range(7) | as_stream() | shard(3, 2));
  check_contract(range(2) | shard(3, 2));
  check_contract(range(30) | shard(2, 1) | repeat(2) | shard(3, 2));
}

TEST(Shard, PassesOnWaitingAndErrors) {
  EXPECT_THAT(answers(script({"0", "pending", "bad", "1", "pending", "2", "ugly", "3"}) | shard(2, 1)),
              ElementsAre("pending", "!bad", "1", "pending", "!ugly", "3", "end"));
}

TEST(Shard, RefusesAnIndexThatIsNone) {
  EXPECT_THAT([] { shard(3, 3); }, testing::ThrowsMessage<Exception>(HasSubstr("shard: num_shards=3, index=3: index")));
  EXPECT_THROW(shard(3, -1), Exception);
  EXPECT_THROW(shard(0, 0), Exception);
  EXPECT_THROW(shard(-2, -3), Exception);
}

}  // namespace
}  // namespace headpond::internal

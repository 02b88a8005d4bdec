// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/structure/sharing.h"

#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

std::string shortage_of(const Dataset& dataset) {
  const Error error = shortage_below(*dataset.node());
  return error ? error.to_string() : "";
}

TEST(Sharing, AShardIsRefusedThatGetsNoneOfTheElements) {
  EXPECT_THAT(
      shortage_of(range(3) | shard(4, 3)),
      HasSubstr(
          "FailedPrecondition: shard(num_shards=4, index=3): elements to share: at most 3; this shard gets none"));
  EXPECT_THAT(shortage_of(range(1) | shard(4, 1)), HasSubstr("index=1): elements to share: at most 1;"));
  EXPECT_EQ(shortage_of(range(1) | shard(4, 0)), "") << "a part of a dataset, perhaps";
  EXPECT_EQ(shortage_of(range(4) | shard(4, 3)), "");
  EXPECT_EQ(shortage_of(range(0) | shard(4, 3)), "") << "no program has an element";
  EXPECT_EQ(shortage_of(range(3) | repeat() | shard(4, 3)), "");
}

TEST(Sharing, APartMayBeEmptyAndIsOtherwiseAShard) {
  EXPECT_EQ(shortage_of(range(3) | part(4, 3)), "");
  EXPECT_NE(shortage_of(range(3) | shard(4, 3) | part(4, 3)), "") << "control: what it is a part of is a rank's";
  for (const int64_t index : {0, 1, 2, 3}) {
    EXPECT_EQ(elements(range(7) | part(4, index)), elements(range(7) | shard(4, index)));
    EXPECT_EQ((range(7) | part(4, index)).plan(), (range(7) | shard(4, index)).plan());
  }
}

TEST(Sharing, AsFarAsElementsAreKnown) {
  EXPECT_NE(shortage_of(range(3) | evens() | shard(4, 3)), "") << "at most three";
  EXPECT_EQ(shortage_of(range(5) | evens() | shard(4, 3)), "") << "not known before the end";
  EXPECT_NE(shortage_of(range(3) | as_stream() | take(9) | shard(4, 3)), "") << "at most three";
}

TEST(Sharing, IsLookedForBelowAllThatHasNoOtherElements) {
  const Dataset few = range(3) | shard(4, 3);
  EXPECT_NE(shortage_of(few | shuffle() | repeat() | batch(2) | cache()), "");
  EXPECT_EQ(shortage_of(few | concatenate(range(5))), "");
  EXPECT_EQ(shortage_of(few | pad_to_cardinality(1)), "");
  EXPECT_NE(shortage_of(zip({range(9), few})), "") << "it ends with the first one";
  EXPECT_EQ(shortage_of(zip({range(9), range(4) | shard(4, 3)})), "");
  EXPECT_EQ(shortage_of(range(2) | flat_map([](int64_t) { return range(3) | shard(4, 3); })), "");
}

TEST(Sharing, FewerRowsThanRanksAreDroppedByAllOfThem) {
  const auto too_few = [](const Dataset& batches, UnevenBatch uneven) {
    return shortage_of(batches | distribute(4, 1, uneven));
  };
  EXPECT_THAT(too_few(range(3) | batch(24), UnevenBatch::drop),
              HasSubstr("rows of a batch: at most 3, for 4 programs, so none gets any"));
  EXPECT_NE(too_few(range(3) | batch(24) | shuffle() | repeat(2), UnevenBatch::drop), "");
  EXPECT_NE(too_few(range(99) | batch(3, {.drop_remainder = true}), UnevenBatch::drop), "") << "batches of 3 rows";
  EXPECT_NE(too_few(range(99) | batch(3), UnevenBatch::drop), "") << "batches of at most 3 rows";
  EXPECT_EQ(too_few(range(99) | batch(4), UnevenBatch::drop), "");
  EXPECT_EQ(too_few(range(0) | batch(3, {.drop_remainder = true}), UnevenBatch::drop), "") << "there is nothing";
  EXPECT_EQ(too_few(range(4) | batch(24), UnevenBatch::drop), "");
  EXPECT_EQ(too_few(range(3) | batch(2) | repeat(3) | rebatch(8), UnevenBatch::drop), "") << "batches of 8 rows";
  EXPECT_EQ(too_few(range(3) | batch(24), UnevenBatch::pad), "");
  EXPECT_EQ(too_few(range(3) | batch(24), UnevenBatch::wrap), "");
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/regroup/batch_rows_internal.h"
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"
#include "headpond/dataset/run_state.h"

namespace headpond::internal {
namespace {

// The rows as they come, in parts of at most `most`, with the state after each.
std::vector<std::string> parts(const Dataset& dataset, int64_t most, std::string* state_after_first = nullptr) {
  PlainFeed feed;
  Context context;
  BatchRows rows(*dataset.node(), open(*dataset.node(), {}, feed));
  std::vector<std::string> all;
  int64_t first = 0, count = 0;
  while (rows.next(most, context, first, count) == Got::value) {
    all.push_back(fmt::format("{} {}+{}", text_of(rows.batch()), first, count));
    if (all.size() > 1 || state_after_first == nullptr) continue;
    StateVisitor visitor;
    rows.visit_state(visitor);
    *state_after_first = visitor.saved();
  }
  return all;
}

TEST(BatchRows, GivesAtMostSoManyRowsOfABatch) {
  EXPECT_THAT(parts(range(5) | batch(3), 2), testing::ElementsAre("[0 1 2] 0+2", "[0 1 2] 2+1", "[3 4] 0+2"));
  EXPECT_THAT(parts(range(5) | batch(3), 9), testing::ElementsAre("[0 1 2] 0+3", "[3 4] 0+2"));
}

TEST(BatchRows, RefersToTheBatchThatItIsIn) {
  std::string within, after;
  (void)parts(range(6) | batch(3), 2, &within);
  (void)parts(range(6) | batch(3), 3, &after);
  EXPECT_EQ(within.size(), after.size()) << "a number, and a position";
  const Dataset dataset = range(6) | batch(3);
  PlainFeed feed;
  Context context;
  BatchRows rows(*dataset.node(), open(*dataset.node(), {}, feed));
  StateVisitor visitor = StateVisitor::restoring(within);
  rows.visit_state(visitor);
  EXPECT_TRUE(visitor.complete());
  int64_t first = 0, count = 0;
  ASSERT_EQ(rows.next(9, context, first, count), Got::value);
  EXPECT_EQ(text_of(rows.batch()), "[0 1 2]");
  EXPECT_EQ(first, 2);
  EXPECT_EQ(count, 1);
}

TEST(BatchRows, DropsTheRestOfABatch) {
  const Dataset dataset = range(6) | batch(3);
  PlainFeed feed;
  Context context;
  BatchRows rows(*dataset.node(), open(*dataset.node(), {}, feed));
  int64_t first = 0, count = 0;
  ASSERT_EQ(rows.next(1, context, first, count), Got::value);
  rows.drop_batch();
  ASSERT_EQ(rows.next(1, context, first, count), Got::value);
  EXPECT_EQ(text_of(rows.batch()), "[3 4 5]");
}

TEST(KnownRows, AreThoseOfTheSpec) {
  EXPECT_EQ(known_rows("x", {{"a", DType::i64, {3}}, {"b", DType::i64, {kUnknown, 2}}}), 3);
  EXPECT_EQ(known_rows("x", {{"a", DType::i64, {kUnknown}}}), kUnknown);
  EXPECT_THROW(known_rows("x", {{"a", DType::i64, {3}}, {"b", DType::i64, {4}}}), Exception);
  EXPECT_THROW(known_rows("x", {{"a", DType::i64, {}}}), Exception);
}

}  // namespace
}  // namespace headpond::internal

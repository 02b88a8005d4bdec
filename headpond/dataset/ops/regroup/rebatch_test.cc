// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr BatchOptions kDrop = {.drop_remainder = true};

Dataset words() {
  const std::vector<std::string> texts = {"a", "", "ccc", "dd", "e"};
  return from_tensor_slices({{"word", Tensor::from(texts, {5})}});
}

TEST(Rebatch, GivesTheRowsInOtherBatches) {
  for (const Dataset& input : each_kind(range(7))) {
    for (const int64_t before : {1, 2, 3, 7, 9}) {
      for (const int64_t after : {1, 2, 3, 7, 9}) {
        for (const bool drop : {false, true}) {
          const Dataset dataset = input | batch(before) | rebatch(after, {.drop_remainder = drop});
          EXPECT_EQ(elements(dataset, {}, true), elements(input | batch(after, {.drop_remainder = drop}), {}, true));
          check_contract(dataset);
        }
      }
    }
  }
}

TEST(Rebatch, TakesSizesInTurn) {
  const std::vector<int64_t> sizes = {2, 1};
  for (const int64_t before : {1, 2, 4, 8}) {
    const Dataset dataset = range(8) | batch(before, kDrop) | rebatch(sizes);
    EXPECT_THAT(elements(dataset), ElementsAre("[0 1]", "[2]", "[3 4]", "[5]", "[6 7]"));
    check_contract(dataset);
    const Dataset cut = range(8) | batch(before, kDrop) | rebatch({3, 2}, kDrop);
    EXPECT_THAT(elements(cut), ElementsAre("[0 1 2]", "[3 4]", "[5 6 7]"));
    check_contract(cut);
  }
  EXPECT_THAT(elements(range(5) | batch(2) | rebatch({INT64_MAX, INT64_MAX, 1})), ElementsAre("[0 1 2 3 4]"));
  check_contract(range(6) | batch(2, kDrop) | rebatch({INT64_MAX, INT64_MAX, 1}));
}

TEST(Rebatch, KeepsTextsAndOtherFields) {
  const Dataset dataset = words() | enumerate() | batch(2) | rebatch(3);
  EXPECT_THAT(elements(dataset), ElementsAre("[0 1 2], ['a' '' 'ccc']", "[3 4], ['dd' 'e']"));
  check_contract(dataset);
}

TEST(Rebatch, KnowsPositionsWhereBatchesAreEqual) {
  const Dataset dataset = range(9) | batch(3, kDrop) | rebatch({4, 1});
  EXPECT_EQ(dataset.kind(), Kind::indexed);
  EXPECT_EQ(dataset.cardinality(), 3);
  EXPECT_EQ(to_string(dataset.spec()), "{0: int64[?]}");
  EXPECT_EQ(to_string((range(9) | batch(3) | rebatch(4, kDrop)).spec()), "{0: int64[4]}");
  EXPECT_EQ((range(9) | batch(3, kDrop) | rebatch({4, 2})).cardinality(), 3);
  EXPECT_EQ((range(9) | batch(3, kDrop) | rebatch({4, 2}, kDrop)).cardinality(), 2);
  EXPECT_EQ((range(9) | batch(3) | rebatch(4)).kind(), Kind::stream);
  EXPECT_EQ((counter() | batch(3, kDrop) | rebatch(4)).cardinality(), kEndless);
  EXPECT_EQ((range(0) | batch(3) | rebatch(4)).cardinality(), 0);
  check_contract(dataset | shuffle());
}

TEST(Rebatch, GivesAnErrorInItsPlaceAndLosesNoNeighbour) {
  const Dataset dataset = range(8) | failing_at({0, 5}) | batch(2) | rebatch(3);
  EXPECT_THAT(elements(dataset), ElementsAre(HasSubstr("bad"), "[1 2 3]", HasSubstr("bad"), "[4 6 7]"));
  check_errors_come_once(dataset);
  EXPECT_THAT(answers(script({"1", "bad", "2", "3", "pending", "4", "5"}) | batch(1) | rebatch(4)),
              ElementsAre("!bad", "pending", "[1 2 3 4]", "[5]", "end"));
}

TEST(Rebatch, LeavesOutABatchOfOtherRows) {
  const auto wide = [](int64_t x) {
    const int64_t width = x == 1 ? 3 : 2;
    return Tensor::from(std::vector<int64_t>(static_cast<size_t>(2 * width), x), {2, width});
  };
  const Dataset dataset =
      range(4) | map(wide, {.output = {{"", DType::i64, {kUnknown, kUnknown}}}, .name = "wide"}) | rebatch(3);
  EXPECT_THAT(
      elements(dataset),
      ElementsAre(
          HasSubstr("range, record 1: field 0 has rows of shape [3], those before them (range, record 0) have [2]"),
          "[3,2][0 0 0 0 2 2]", "[3,2][2 2 3 3 3 3]"));
  check_errors_come_once(dataset);
}

TEST(Rebatch, RefusesImpossibleSizes) {
  EXPECT_THROW(rebatch(0), Exception);
  EXPECT_THROW(rebatch({2, -1}), Exception);
  EXPECT_THROW(rebatch(std::vector<int64_t>()), Exception);
  EXPECT_THROW(range(3) | rebatch(2), Exception);
  EXPECT_EQ((range(4) | batch(2) | rebatch(3)).node()->facts().role, Role::rebatch);
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr BatchOptions kDrop = {.drop_remainder = true};

TEST(Unbatch, GivesTheRowsOfEachBatch) {
  const std::vector<std::string> all = {"0", "1", "2", "3", "4"};
  for (const Dataset& input : each_kind(range(5))) {
    for (const Dataset& dataset : {input | batch(2) | unbatch(), input | batch(7) | unbatch(),
                                   input | batch(1) | unbatch(), input | batch(2) | batch(2) | unbatch() | unbatch()}) {
      EXPECT_EQ(elements(dataset), all) << dataset.plan();
      check_contract(dataset);
    }
    EXPECT_THAT(elements(input | batch(2, kDrop) | unbatch()), ElementsAre("0", "1", "2", "3"));
    check_contract(input | batch(2, kDrop) | unbatch());
    check_contract(input | batch(2) | shuffle(2) | unbatch());
    EXPECT_THAT(elements(input | take(0) | batch(2) | unbatch()), IsEmpty());
  }
}

TEST(Unbatch, LeavesOutBatchesWithoutRows) {
  const Dataset dataset = sequences({0, 2, 0, 0, 1, 0}) | unbatch();
  EXPECT_THAT(elements(dataset), ElementsAre("11", "12", "41"));
  check_contract(dataset);
}

TEST(Unbatch, KnowsPositionsWhereBatchesAreEqual) {
  const Dataset rows = range(6) | batch(2, kDrop) | unbatch();
  EXPECT_EQ(rows.kind(), Kind::indexed);
  EXPECT_EQ(rows.cardinality(), 6);
  EXPECT_EQ(to_string(rows.spec()), "{0: int64[]}");
  EXPECT_EQ((range(6) | batch(2) | unbatch()).kind(), Kind::stream);
  EXPECT_EQ((range(0) | batch(2) | unbatch()).cardinality(), 0);
  EXPECT_EQ((counter() | batch(2, kDrop) | unbatch()).cardinality(), kEndless);
  EXPECT_EQ(elements(rows | shuffle()).size(), 6U);
  check_contract(rows | shuffle());
  const Dataset slices = from_tensor_slices(Tensor::from(std::vector<int64_t>{1, 2, 3, 4, 5, 6}, {3, 2}));
  EXPECT_THAT(elements(slices | unbatch()), ElementsAre("1", "2", "3", "4", "5", "6"));
  check_contract(slices | unbatch());
  check_contract(slices | filter([](std::span<const int64_t> row) { return row[0] != 3; }) | unbatch());
}

TEST(Unbatch, MixesTheKeyWithTheRow) {
  EXPECT_THAT(elements(range(2) | batch(2) | unbatch(), {}, true),
              ElementsAre(fmt::format("0 #{:x}", mix(mix(0x6261746368, 0), 0)),
                          fmt::format("1 #{:x}", mix(mix(0x6261746368, 0), 1))));
}

TEST(Unbatch, GivesAnErrorInPlaceOfItsBatch) {
  const auto unequal = [](int64_t x) {
    return std::tuple(Tensor::from(std::vector<int64_t>{x, x}, {2}),
                      Tensor::from(std::vector<int64_t>(x == 1 ? 1 : 2, -x), {x == 1 ? 1 : 2}));
  };
  const Spec spec = {{"a", DType::i64, {kUnknown}}, {"b", DType::i64, {kUnknown}}};
  const Dataset dataset = range(3) | map(unequal, {.output = spec, .name = "unequal"}) | unbatch();
  EXPECT_THAT(
      elements(dataset),
      ElementsAre("0, 0", "0, 0", "!InvalidArgument: unbatch(), range, record 1: field 1 has 1 rows, expected 2",
                  "2, -2", "2, -2"));
  check_errors_come_once(dataset);
  check_errors_come_once(range(7) | failing_at({0, 3, 6}) | batch(2) | unbatch());
  for (const Dataset& input : each_kind(range(9))) {
    check_errors_come_once(input | failing_at({1, 4, 7}) | batch(2) | unbatch());
    check_errors_come_once(input | failing_at({1, 4, 7}) | batch(2) | rebatch(3));
  }
  EXPECT_THAT(answers(script({"pending", "1", "pending", "bad", "2", "3"}) | batch(2) | unbatch()),
              ElementsAre("pending", "pending", "!bad", "1", "2", "3", "end"));
}

TEST(Unbatch, RefusesFieldsWithoutRows) {
  EXPECT_THAT([] { range(3) | unbatch(); }, testing::Throws<Exception>());
  EXPECT_THAT([] { range(3) | batch(2) | enumerate() | unbatch(); }, testing::Throws<Exception>());
  EXPECT_EQ((range(4) | batch(2) | unbatch()).node()->facts().role, Role::unbatch);
}

}  // namespace
}  // namespace headpond::internal

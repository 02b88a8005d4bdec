// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <limits>

#include "headpond/dataset/ops/batch/row_costs_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Spec kRowCostBatches = {{"n", i64, {kUnknown}}, {"", f32, {kUnknown, 2}}, {"t", bytes, {kUnknown}}};

Element costed_batch(const std::vector<int64_t>& numbers) {
  const auto rows = static_cast<int64_t>(numbers.size());
  std::vector<float> pairs;
  for (const int64_t x : numbers) pairs.insert(pairs.end(), {static_cast<float>(x), 0.5F});
  return {Tensor::from(numbers, {rows}), Tensor::from(pairs, {rows, 2}),
          Tensor::from(std::vector<std::string>(numbers.size(), "four"), {rows})};
}

template <class F>
RowCosts by(F function) {
  return RowCosts::of_function("op", kRowCostBatches, make_function(function));
}

template <class Make>
std::string refused_costs(const Make& make) {
  try {
    (void)make();
    return "";
  } catch (const Exception& e) {
    return e.error().message();
  }
}

TEST(RowCosts, AreTheValuesOfAField) {
  const RowCosts costs = RowCosts::of_field("op", kRowCostBatches, "n");
  EXPECT_TRUE(costs.is_known());
  EXPECT_EQ(*costs.field(), 0U);
  EXPECT_THAT(costs.of(costed_batch({3, 0, 7}), 3).value(), ElementsAre(3, 0, 7));
  EXPECT_FALSE(RowCosts().is_known());
}

TEST(RowCosts, AreWhatAFunctionReturnsForEachRow) {
  const auto sum = [](int64_t n, std::span<const float> pair, std::string_view text) {
    return static_cast<double>(n) + pair[0] + pair[1] + static_cast<double>(text.size());
  };
  EXPECT_THAT(by(sum).of(costed_batch({1, 10}), 2).value(), ElementsAre(6.5, 24.5));
  EXPECT_EQ(by(sum).field(), nullptr);
  EXPECT_THAT(by([](const Element& row) { return static_cast<uint8_t>(row.size()); }).of(costed_batch({1}), 1).value(),
              ElementsAre(3));
  EXPECT_THAT(by(sum).of(costed_batch({}), 0).value(), testing::IsEmpty());
}

TEST(RowCosts, NameTheRowThatHasNone) {
  const auto error = [](const RowCosts& costs) { return costs.of(costed_batch({1, -2}), 2).error().message(); };
  EXPECT_EQ(error(RowCosts::of_field("op", kRowCostBatches, "n")), "row 1 costs -2");
  const auto no_number = [](const Element&) { return std::numeric_limits<double>::quiet_NaN(); };
  EXPECT_THAT(error(by(no_number)), HasSubstr("row 0 costs nan"));
  EXPECT_EQ(error(by([](const Element& row) -> Result<float> {
              if (row[size_t{0}].item<int64_t>() < 0) return fail(ErrorKind::DataLoss, "no length");
              return 1.F;
            })),
            "row 1: no length");
}

TEST(RowCosts, RefuseWhatIsNoNumber) {
  EXPECT_THAT(refused_costs([] { return RowCosts::of_field("op", kRowCostBatches, "x"); }),
              HasSubstr("op: no field 'x' in"));
  for (const char* const name : {"1", "t"}) {
    EXPECT_THAT(refused_costs([&] { return RowCosts::of_field("op", kRowCostBatches, name); }),
                HasSubstr("is no number"));
  }
  EXPECT_THAT(refused_costs([] { return by([](const Element&) { return std::string("x"); }); }),
              HasSubstr("op: the cost function must return a number"));
  EXPECT_NE(refused_costs([] { return by([](const Element&) { return Tensor(); }); }), "");
  EXPECT_NE(refused_costs([] { return by([](const Element&) { return true; }); }), "");
  EXPECT_NE(refused_costs([] { return by([](int64_t) { return 1; }); }), "") << "three fields";
}

}  // namespace
}  // namespace headpond::internal

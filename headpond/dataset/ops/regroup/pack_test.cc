// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Pack, PutsSequencesIntoRows) {
  for (const Dataset& input : each_kind(sequences({3, 4, 2, 1, 5}))) {
    const Dataset dataset = input | pack(5, {.num_packing_bins = 2});
    EXPECT_THAT(elements(dataset),
                ElementsAre("[1 2 3 21 22], [1 1 1 2 2], [0 1 2 0 1]", "[11 12 13 14 31], [1 1 1 1 2], [0 1 2 3 0]",
                            "[41 42 43 44 45], [1 1 1 1 1], [0 1 2 3 4]"));
    check_contract(dataset);
  }
  EXPECT_THAT(elements(sequences({}) | pack(5)), IsEmpty());
}

TEST(Pack, PadsWhatIsLeft) {
  const Dataset dataset = sequences({3, 3, 1}) | pack(5, {.num_packing_bins = 1, .padding_values = {{"0", -1}}});
  EXPECT_THAT(elements(dataset),
              ElementsAre("[1 2 3 -1 -1], [1 1 1 0 0], [0 1 2 0 0]", "[11 12 13 21 -1], [1 1 1 2 0], [0 1 2 0 0]"));
  EXPECT_EQ(to_string(dataset.spec()), "{0: int64[5], 'segment_ids': int32[5], 'positions': int32[5]}");
}

TEST(Pack, IsRestoredAnywhere) {
  std::vector<int64_t> lengths;
  Random random(3);
  for (int i = 0; i < 40; ++i) lengths.push_back(static_cast<int64_t>(1 + random.below(8)));
  for (const PackFit fit : {PackFit::first_fit, PackFit::best_fit}) {
    for (const int64_t most : {0, 2}) {
      for (const Dataset& input : each_kind(sequences(lengths))) {
        check_contract(input | pack(9, {.fit = fit, .num_packing_bins = 4, .max_sequences_per_bin = most}));
      }
    }
  }
}

TEST(Pack, KeepsTheFieldsOfASequenceTogether) {
  const auto pair = [](int64_t x) {
    const auto count = static_cast<size_t>(x % 3);
    return std::tuple(Tensor::from(std::vector<int32_t>(3, static_cast<int32_t>(x)), {3}),
                      Tensor::from(std::vector<float>(2 * count, static_cast<float>(x)), {x % 3, 2}));
  };
  const Spec spec = {{"in", DType::i32, {kUnknown}}, {"out", DType::f32, {kUnknown, 2}}};
  const Dataset dataset = range(4) | map(pair, {.output = spec, .name = "pair"}) |
                          pack(6, {.lengths = {{"out", 2}}, .num_packing_bins = 2});
  EXPECT_EQ(to_string(dataset.spec()),
            "{'in': int32[6], 'in_segment_ids': int32[6], 'in_positions': int32[6], 'out': float32[2,2], "
            "'out_segment_ids': int32[2], 'out_positions': int32[2]}");
  EXPECT_THAT(elements(dataset),
              ElementsAre("[2 2 2 3 3 3], [1 1 1 2 2 2], [0 1 2 0 1 2], [2,2][2 2 2 2], [1 1], [0 1]",
                          "[0 0 0 1 1 1], [1 1 1 2 2 2], [0 1 2 0 1 2], [2,2][1 1 0 0], [2 0], [0 0]"));
  check_contract(dataset);
}

TEST(Pack, CallsFieldsWithoutANameByTheirNumber) {
  const Dataset dataset = zip({sequences({2}), sequences({1})}) | pack(3);
  EXPECT_EQ(to_string(dataset.spec()),
            "{0: int64[3], '0_segment_ids': int32[3], '0_positions': int32[3], 3: int64[3], "
            "'1_segment_ids': int32[3], '1_positions': int32[3]}");
}

TEST(Pack, WastesLittle) {
  std::vector<int64_t> lengths;
  Random random(11);
  int64_t values = 0;
  for (int i = 0; i < 2'000; ++i) {
    lengths.push_back(static_cast<int64_t>(1 + random.below(100)));
    values += lengths.back();
  }
  for (const PackFit fit : {PackFit::first_fit, PackFit::best_fit}) {
    const auto rows = static_cast<int64_t>(elements(sequences(lengths) | pack(256, {.fit = fit})).size());
    EXPECT_LT(rows * 256, values * 103 / 100);
  }
}

TEST(Pack, GivesErrorsInTheirPlace) {
  const Dataset dataset = sequences({3, 6, 0, 2, 4}) | pack(5);
  EXPECT_THAT(elements(dataset),
              ElementsAre(HasSubstr("range, record 1: field 0 has the length 6, longer than a packed row of 5"),
                          HasSubstr("range, record 2: an empty sequence"), "[1 2 3 31 32], [1 1 1 2 2], [0 1 2 0 1]",
                          "[41 42 43 44 0], [1 1 1 1 0], [0 1 2 3 0]"));
  check_errors_come_once(dataset);
  check_errors_come_once(sequences({3, 6, 0, 4, 4, 0, 2, 6, 1, 1}) | as_stream() | pack(5, {.num_packing_bins = 3}));
}

TEST(Pack, RefusesWhatCannotBe) {
  const Dataset input = sequences({1});
  EXPECT_THROW(input | pack(0), Exception);
  EXPECT_THROW(input | pack(5, {.lengths = {{"x", 3}}}), Exception);
  EXPECT_THROW(input | pack(5, {.padding_values = {{"x", 3}}}), Exception);
  EXPECT_THROW(pack(5, {.num_packing_bins = 0}), Exception);
  EXPECT_THROW(pack(5, {.num_packing_bins = 4'097}), Exception);
  EXPECT_THROW(pack(5, {.max_sequences_per_bin = -1}), Exception);
  EXPECT_THROW(pack(5, {.fit = static_cast<PackFit>(2)}), Exception);
  EXPECT_THROW(range(3) | pack(5), Exception);
  EXPECT_EQ((input | pack(5)).node()->facts().role, Role::unbatch);
}

}  // namespace
}  // namespace headpond::internal

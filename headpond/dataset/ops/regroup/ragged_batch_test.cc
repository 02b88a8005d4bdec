// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(RaggedBatch, HasValuesAndWhereRowsBegin) {
  for (const Dataset& input : each_kind(sequences({2, 0, 1, 3, 0}))) {
    const Dataset dataset = input | ragged_batch(2);
    EXPECT_THAT(elements(dataset), ElementsAre("[1 2], [0 2 2]", "[21 31 32 33], [0 1 4]", "[], [0 0]"));
    check_contract(dataset);
    const Dataset cut = input | ragged_batch(2, {.drop_remainder = true});
    EXPECT_THAT(elements(cut), ElementsAre("[1 2], [0 2 2]", "[21 31 32 33], [0 1 4]"));
    check_contract(cut);
  }
  EXPECT_EQ(to_string((sequences({1}) | ragged_batch(2)).spec()), "{0: int64[?], 'row_splits': int64[?]}");
  const RaggedBatchOptions narrow{.drop_remainder = true, .row_splits_dtype = DType::i32};
  EXPECT_EQ(to_string((sequences({1}) | ragged_batch(2, narrow)).spec()), "{0: int64[?], 'row_splits': int32[3]}");
  EXPECT_THAT(elements(sequences({1, 2}) | ragged_batch(2, narrow)), ElementsAre("[1 11 12], [0 1 3]"));
}

TEST(RaggedBatch, StacksFieldsOfFixedShapes) {
  const auto texts = [](int64_t x) {
    return std::tuple(x, Tensor::from(std::vector<std::string>(static_cast<size_t>(x), "t"), {x}),
                      Tensor::from(std::vector<float>(static_cast<size_t>(2 * x), 0.5F), {x, 2}));
  };
  const Spec spec = {{"n", DType::i64, {}}, {"t", DType::bytes, {kUnknown}}, {"f", DType::f32, {kUnknown, 2}}};
  const Dataset dataset = range(3) | map(texts, {.output = spec, .name = "texts"}) | ragged_batch(3);
  EXPECT_EQ(to_string(dataset.spec()),
            "{'n': int64[?], 't': bytes[?], 't.row_splits': int64[?], 'f': float32[?,2], 'f.row_splits': int64[?]}");
  EXPECT_THAT(elements(dataset),
              ElementsAre("[0 1 2], ['t' 't' 't'], [0 0 1 3], [3,2][0.5 0.5 0.5 0.5 0.5 0.5], [0 0 1 3]"));
  check_contract(dataset);
}

TEST(RaggedBatch, SplitsRowsOfRows) {
  const auto matrix = [](int64_t x) {
    return Tensor::from(std::vector<int64_t>(static_cast<size_t>(2 * (x + 1)), x), {2, x + 1});
  };
  const Dataset dataset =
      range(2) | map(matrix, {.output = {{"m", DType::i64, {2, kUnknown}}}, .name = "matrix"}) | ragged_batch(2);
  EXPECT_EQ(to_string(dataset.spec()), "{'m': int64[?], 'm.row_splits': int64[?], 'm.row_splits_1': int64[?]}");
  EXPECT_THAT(elements(dataset), ElementsAre("[0 0 1 1 1 1], [0 2 4], [0 1 2 4 6]"));
  check_contract(dataset);
}

TEST(RaggedBatch, CallsFieldsWithoutANameByTheirNumber) {
  const Dataset dataset = zip({sequences({2}), sequences({1})}) | ragged_batch(2);
  EXPECT_EQ(to_string(dataset.spec()),
            "{0: int64[?], '0.row_splits': int64[?], 2: int64[?], '1.row_splits': int64[?]}");
}

TEST(RaggedBatch, RefusesWhatDoesNotFit) {
  EXPECT_THROW(ragged_batch(2, {.row_splits_dtype = DType::f32}), Exception);
  EXPECT_THROW(range(3) | ragged_batch(0), Exception);
  const auto two = [](int64_t x) { return std::tuple(Tensor::from(std::vector<int64_t>{x}, {1}), x); };
  const std::vector<FieldSpec> names = {{"a", DType::i64, {kUnknown}}, {"a.row_splits", DType::i64, {}}};
  EXPECT_THROW(range(3) | map(two, {.output = names}) | ragged_batch(2), Exception) << "two fields named a.row_splits";
  const auto wrong = [](int64_t x) { return x == 1 ? Tensor::scalar(x) : Tensor::from(std::vector<int64_t>{x}, {1}); };
  const Dataset dataset =
      range(3) | map(wrong, {.output = {{"", DType::i64, {kUnknown}}}, .name = "wrong"}) | ragged_batch(3);
  EXPECT_THAT(elements(dataset), ElementsAre(HasSubstr("range, record 1"), "[0 2], [0 1 2]"));
}

}  // namespace
}  // namespace headpond::internal

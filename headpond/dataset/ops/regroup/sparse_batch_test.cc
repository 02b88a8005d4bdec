// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"

namespace headpond::internal {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// [2, x + 1] matrices of x, without a first row for odd x.
Dataset matrices(int64_t count) {
  const auto matrix = [](int64_t x) {
    const int64_t rows = x % 2 == 0 ? 2 : 1;
    return Tensor::from(std::vector<int64_t>(static_cast<size_t>(rows * (x + 1)), x), {rows, x + 1});
  };
  return range(count) | map(matrix, {.output = {{"m", DType::i64, {kUnknown, kUnknown}}}, .name = "matrix"});
}

TEST(SparseBatch, HasEachValueWithItsPlace) {
  for (const Dataset& input : each_kind(sequences({2, 0, 1, 3, 0}))) {
    const Dataset dataset = input | sparse_batch(2, {4});
    EXPECT_THAT(elements(dataset), ElementsAre("[2,2][0 0 0 1], [1 2], [2 4]",
                                               "[4,2][0 0 1 0 1 1 1 2], [21 31 32 33], [2 4]", "[0,2][], [], [1 4]"));
    check_contract(dataset);
  }
  EXPECT_EQ(to_string((sequences({1}) | sparse_batch(2, {4})).spec()),
            "{'indices': int64[?,2], 'values': int64[?], 'shape': int64[2]}");
  EXPECT_EQ((sequences({1, 2, 3}) | sparse_batch(2, {4})).cardinality(), 2);
}

TEST(SparseBatch, TakesTheLargestWhereTheRowShapeIsOpen) {
  const Dataset open = matrices(3) | sparse_batch(2, {2, kUnknown});
  EXPECT_EQ(to_string(open.spec()), "{'m.indices': int64[?,3], 'm.values': int64[?], 'm.shape': int64[3]}");
  EXPECT_THAT(elements(open), ElementsAre("[4,3][0 0 0 0 1 0 1 0 0 1 0 1], [0 0 1 1], [2 2 2]",
                                          "[6,3][0 0 0 0 0 1 0 0 2 0 1 0 0 1 1 0 1 2], [2 2 2 2 2 2], [1 2 3]"));
  check_contract(open);
  EXPECT_THAT(elements(sequences({0, 0}) | sparse_batch(2, {kUnknown})), ElementsAre("[0,2][], [], [2 0]"));
  const Dataset scalars = range(3) | sparse_batch(2, {});
  EXPECT_THAT(elements(scalars), ElementsAre("[2,1][0 1], [0 1], [2]", "[1,1][0], [2], [1]"))
      << "a zero is a value, too";
  check_contract(scalars);
}

TEST(SparseBatch, HasTexts) {
  const auto texts = [](int64_t x) { return Tensor::from(std::vector<std::string>(static_cast<size_t>(x), "t"), {x}); };
  const Dataset dataset =
      range(3) | map(texts, {.output = {{"t", DType::bytes, {kUnknown}}}, .name = "texts"}) | sparse_batch(3, {5});
  EXPECT_THAT(elements(dataset), ElementsAre("[3,2][1 0 2 0 2 1], ['t' 't' 't'], [3 5]"));
  check_contract(dataset);
}

TEST(SparseBatch, TellsAnElementThatIsTooLargeAndGoesOn) {
  EXPECT_THAT(elements(sequences({1, 3, 2}) | sparse_batch(2, {2})),
              ElementsAre(AllOf(HasSubstr("!DataLoss: sparse_batch(batch_size=2, drop_remainder=false, row_shape=[2]), "
                                          "range, record 1: "),
                                HasSubstr("element 1 of the batch has shape [3], larger than the row shape [2]")),
                          "[3,2][0 0 1 0 1 1], [1 21 22], [2 2]"));
  const auto wrong = [](int64_t x) { return x == 1 ? Tensor::scalar(x) : Tensor::from(std::vector<int64_t>{x}, {1}); };
  const Dataset dataset =
      range(3) | map(wrong, {.output = {{"", DType::i64, {kUnknown}}}, .name = "wrong"}) | sparse_batch(3, {1});
  EXPECT_THAT(elements(dataset), ElementsAre(HasSubstr("!InvalidArgument"), "[2,2][0 0 1 0], [0 2], [2 1]"));
}

TEST(SparseBatch, RefusesWhatDoesNotFit) {
  EXPECT_THROW(range(3) | sparse_batch(0, {}), Exception);
  EXPECT_THROW(range(3) | sparse_batch(2, {4}), Exception) << "another rank";
  EXPECT_THROW(zip({range(3), range(3)}) | sparse_batch(2, {}), Exception) << "two fields";
  Sequence sequence(sequences({1, 2, 3}) | sparse_batch(2, {4}));
  (void)sequence.next();
  EXPECT_TRUE(Sequence::restored(sequences({1, 2, 3}) | sparse_batch(2, {4}), {}, sequence.state()));
  EXPECT_FALSE(Sequence::restored(sequences({1, 2, 3}) | sparse_batch(2, {5}), {}, sequence.state()));
}

}  // namespace
}  // namespace headpond::internal

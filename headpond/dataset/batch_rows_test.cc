// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/batch_rows.h"

#include <gtest/gtest.h>

#include <vector>

namespace headpond {
namespace {

Tensor floats(int64_t count) { return Tensor::from(std::vector<float>(static_cast<size_t>(count)), {count}); }

TEST(BatchRows, AreTheFirstDimension) {
  EXPECT_EQ(rows_of_batch({{"x", DType::f32, {4}}}, {floats(4)}), 4);
  EXPECT_EQ(rows_of_batch({{"n", DType::i64, {}}, {"x", DType::f32, {4}}}, {Tensor::scalar(int64_t{9}), floats(4)}), 4);
  EXPECT_EQ(rows_of_batch({{"n", DType::i64, {}}}, {Tensor::scalar(int64_t{9})}), 1);
}

TEST(BatchRows, AreNotTheValuesOfRaggedAndSparseOnes) {
  const Tensor splits = Tensor::from(std::vector<int64_t>{0, 3, 7}, {3}),
               shape = Tensor::from(std::vector<int64_t>{2, 5}, {2}),
               indices = Tensor::from(std::vector<int64_t>(14), {7, 2});
  EXPECT_EQ(rows_of_batch({{"x", DType::f32, {7}}, {"x.row_splits", DType::i64, {3}}}, {floats(7), splits}), 2);
  EXPECT_EQ(rows_of_batch({{"x", DType::f32, {7}}, {"y.row_splits", DType::i64, {3}}}, {floats(7), splits}), 7)
      << "control: of another field";
  EXPECT_EQ(
      rows_of_batch({{"x.indices", DType::i64, {7, 2}}, {"x.values", DType::f32, {7}}, {"x.shape", DType::i64, {2}}},
                    {indices, floats(7), shape}),
      2);
}

}  // namespace
}  // namespace headpond

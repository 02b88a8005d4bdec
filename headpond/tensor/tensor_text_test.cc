// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "headpond/tensor/tensor.h"

namespace headpond {
namespace {

Tensor counting(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(*shape.size()));
  std::iota(values.begin(), values.end(), 0.0F);
  return Tensor::from(values, shape);
}

TEST(TensorText, ShowsDtypeShapeAndTheFirstValues) {
  EXPECT_EQ(to_string(counting({2, 2})), "float32 [2,2] [[0, 1], [2, 3]]");
  EXPECT_EQ(to_string(Tensor::scalar(int64_t{-7})), "int64 [] -7");
  EXPECT_EQ(to_string(Tensor::scalar(uint8_t{65})), "uint8 [] 65");
  EXPECT_EQ(to_string(Tensor::scalar(int8_t{65})), "int8 [] 65");
  EXPECT_EQ(to_string(Tensor::scalar(true)), "bool [] true");
  EXPECT_EQ(to_string(Tensor::from(std::vector<std::string>{"a'b", "\n", std::string(40, 'x')}, {3})),
            "bytes [3] ['a'b', '\\x0a', '" + std::string(32, 'x') + "...' (40 bytes)]");
  EXPECT_EQ(to_string(Tensor()), "uint8 [0] []");
  EXPECT_EQ(to_string(counting({2, 0, 3})), "float32 [2,0,3] []");
  std::ostringstream out;
  out << counting({7, 6});
  EXPECT_EQ(out.str(),
            "float32 [7,6] [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17], "
            "[18, 19, 20, 21, 22, 23], [24, 25, 26, 27, 28, 29], [30, 31, ...], ...]");
}

TEST(TensorText, ShowsHalvesAsNumbers) {
  const std::vector<uint16_t> halves = {0x3c00, 0xc000, 0x0001, 0x7c00, 0x3555}, brains = {0x3f80, 0xc000};
  EXPECT_EQ(to_string(Tensor::view(halves.data(), f16, {4})), "float16 [4] [1, -2, 5.9604645e-08, inf]");
  EXPECT_EQ(to_string(Tensor::view(brains.data(), bf16, {2})), "bfloat16 [2] [1, -2]");
}

}  // namespace
}  // namespace headpond

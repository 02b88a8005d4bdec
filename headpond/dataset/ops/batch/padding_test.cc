// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "headpond/dataset/ops/batch/padding_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

uint64_t bits_of(DType dtype, const PadWith& value) {
  const auto bytes = padding_value(dtype, value);
  EXPECT_TRUE(bytes) << testing::PrintToString(value.value()) << " as " << name(dtype);
  uint64_t word = 0;
  if (bytes) std::memcpy(&word, bytes->data(), item_size(dtype));
  return word;
}

TEST(PaddingValue, IsTheValueInTheDType) {
  EXPECT_EQ(bits_of(DType::u8, 255), 255U);
  EXPECT_EQ(bits_of(DType::i8, -1), 0xFFU);
  EXPECT_EQ(bits_of(DType::i16, -32768), 0x8000U);
  EXPECT_EQ(bits_of(DType::i64, -0x1p63), 0x8000000000000000U);
  EXPECT_EQ(bits_of(DType::u64, 0x1p63), 0x8000000000000000U);
  EXPECT_EQ(bits_of(DType::boolean, 1), 1U);
  EXPECT_EQ(bits_of(DType::f32, 0.1), 0x3DCCCCCDU);
  EXPECT_EQ(bits_of(DType::f32, std::numeric_limits<double>::infinity()), 0x7F800000U);
  EXPECT_EQ(bits_of(DType::f64, -1), 0xBFF0000000000000U);
}

TEST(PaddingValue, KeepsEveryDigitOfAnInteger) {
  constexpr int64_t kOdd = (1LL << 53) + 1;  // No float64 has it.
  EXPECT_EQ(bits_of(DType::i64, kOdd), 0x20000000000001U);
  EXPECT_EQ(bits_of(DType::u64, kOdd), 0x20000000000001U);
  EXPECT_EQ(bits_of(DType::i64, std::numeric_limits<int64_t>::max()), 0x7FFFFFFFFFFFFFFFU);
  EXPECT_EQ(bits_of(DType::u64, std::numeric_limits<uint64_t>::max()), 0xFFFFFFFFFFFFFFFFU);
  EXPECT_EQ(bits_of(DType::u64, true), 1U);
  EXPECT_EQ(bits_of(DType::boolean, true), 1U);
  EXPECT_EQ(bits_of(DType::f32, (1LL << 54) + (1LL << 30) + 1), 0x5A800001U) << "rounded once, not by way of float64";
  EXPECT_EQ(bits_of(DType::bf16, (1LL << 60) + (1LL << 52) + 1), 0x5D81U) << "the same";
  EXPECT_EQ(bits_of(DType::bf16, -(1LL << 60) - (1LL << 52) - 1), 0xDD81U);
  EXPECT_EQ(bits_of(DType::bf16, std::numeric_limits<uint64_t>::max()), 0x5F80U);
  EXPECT_EQ(bits_of(DType::bf16, 0), 0U);
  EXPECT_EQ(bits_of(DType::f64, kOdd), 0x4340000000000000U);
  EXPECT_FALSE(padding_value(DType::i64, std::numeric_limits<uint64_t>::max()));
  EXPECT_FALSE(padding_value(DType::u64, -1));
  EXPECT_FALSE(padding_value(DType::boolean, 2));
}

TEST(PaddingValue, RoundsHalvesToNearest) {
  EXPECT_EQ(bits_of(DType::f16, 1), 0x3C00U);
  EXPECT_EQ(bits_of(DType::f16, -2), 0xC000U);
  EXPECT_EQ(bits_of(DType::f16, 0), 0U);
  EXPECT_EQ(bits_of(DType::f16, 65504), 0x7BFFU);
  EXPECT_EQ(bits_of(DType::f16, 65519), 0x7BFFU);
  EXPECT_EQ(bits_of(DType::f16, 0x1p-24), 0x0001U);
  EXPECT_EQ(bits_of(DType::f16, 0x1p-14), 0x0400U);
  EXPECT_EQ(bits_of(DType::f16, 1 + 0x1p-11), 0x3C00U);
  EXPECT_EQ(bits_of(DType::f16, 1 + 3 * 0x1p-11), 0x3C02U);
  EXPECT_EQ(bits_of(DType::f16, 2 - 0x1p-12), 0x4000U);
  EXPECT_EQ(bits_of(DType::f16, -std::numeric_limits<double>::infinity()), 0xFC00U);
  EXPECT_EQ(bits_of(DType::bf16, 1), 0x3F80U);
  EXPECT_EQ(bits_of(DType::bf16, -0.5), 0xBF00U);
  EXPECT_EQ(bits_of(DType::bf16, 0x1p-133), 0x0001U);
  EXPECT_EQ(bits_of(DType::bf16, std::nan("")), 0x7FC0U);
}

TEST(PaddingValue, IsRefusedWhereTheDTypeHasNone) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<DType, double>> cases = {
      {DType::u8, 256},     {DType::u8, -1},       {DType::u8, 0.5},       {DType::i8, 128},
      {DType::i64, 0x1p63}, {DType::u64, 0x1p64},  {DType::i32, infinity}, {DType::i32, std::nan("")},
      {DType::boolean, 2},  {DType::boolean, 0.5}, {DType::f16, 65520},    {DType::f16, 1e300},
      {DType::f32, 1e39},   {DType::bf16, 1e39},   {DType::bytes, 0},
  };
  for (const auto& [dtype, value] : cases) EXPECT_FALSE(padding_value(dtype, value)) << value << " as " << name(dtype);
}

}  // namespace
}  // namespace headpond::internal

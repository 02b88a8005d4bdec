// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/expression/expression_code.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace headpond::plan {
namespace {

Instruction constant(int64_t value) { return {Code::constant, 0, {.integer = value}}; }

TEST(ExpressionCode, RunsOverASourceRowByRow) {
  const std::array<int16_t, 3> many = {5, -6, 7};
  const float one = 0.5F;
  const std::array<Source, 2> sources = {Source{reinterpret_cast<const std::byte*>(many.data()), DType::i16, false},
                                         Source{reinterpret_cast<const std::byte*>(&one), DType::f32, true}};
  const Program program = {
      {{Code::load_integer, 0}, {Code::load_number, 1}, {Code::float_below}, {Code::multiply_number}}, 2};
  std::array<Value, 4> stack{};
  for (size_t row = 0; row < many.size(); ++row) {
    ASSERT_EQ(run(program, sources, row, stack.data()), Outcome::done);
    EXPECT_EQ(stack[0].number, many[row] * 0.5);
  }
}

TEST(ExpressionCode, SkipsLeaveTheValueOrDropIt) {
  for (const auto& [first, expected] : std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {2, 9}}) {
    const Program program = {{constant(first), {Code::skip_if_zero, 3}, constant(9)}, 1};
    std::array<Value, 3> stack{};
    EXPECT_EQ(run(program, {}, 0, stack.data()), Outcome::done);
    EXPECT_EQ(stack[0].integer, expected);
  }
}

TEST(ExpressionCode, FailuresSayWhichAndLeaveTheValue) {
  std::array<Value, 4> stack{};
  EXPECT_EQ(run({{constant(1), constant(0), {Code::modulo}}, 2}, {}, 0, stack.data()), Outcome::division_by_zero);
  EXPECT_EQ(run({{constant(4), constant(4), {Code::throw_at}}, 2}, {}, 0, stack.data()), Outcome::thrown);
  EXPECT_EQ(stack[0].integer, 4);
  EXPECT_EQ(run({{constant(4), constant(5), {Code::throw_at}}, 2}, {}, 0, stack.data()), Outcome::done);
  EXPECT_EQ(stack[0].integer, 4);
}

TEST(ExpressionCode, ArithmeticIsForMostDtypes) {
  bool is_float = true;
  EXPECT_TRUE(loadable(DType::u64, is_float));
  EXPECT_FALSE(is_float);
  EXPECT_TRUE(loadable(DType::f32, is_float));
  EXPECT_TRUE(is_float);
  for (const DType none : {DType::bytes, DType::f16, DType::bf16}) EXPECT_FALSE(loadable(none, is_float));
}

}  // namespace
}  // namespace headpond::plan

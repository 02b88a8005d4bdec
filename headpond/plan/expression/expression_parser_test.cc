// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/expression/expression_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "headpond/base/status.h"

namespace headpond::plan {
namespace {

using testing::HasSubstr;

const Spec kFields = {{"", i64, {}}, {"text", bytes, {}}, {"half", f16, {}}, {"a.b", i32, {}}, {"v", u8, {kUnknown}}};

std::string problem(const std::string& text, const Spec& spec = kFields) {
  try {
    compile_expression(text, spec);
    return "no error";
  } catch (const Exception& error) {
    EXPECT_EQ(error.error().kind(), ErrorKind::InvalidArgument);
    return error.error().message();
  }
}

TEST(ExpressionParser, WrongTextsNameTheColumn) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "'', column 1: a value is missing"},
           {"x +", "'x +', column 4: a value is missing"},
           {"* x", "'* x', column 1: a value is missing before '*'"},
           {"(x", "'(x', column 3: ')' is missing"},
           {"x)", "'x)', column 2: ')' was not expected"},
           {"x y", "'x y', column 3: 'y' was not expected"},
           {"x > 1 and x < 3", "'x > 1 and x < 3', column 7: 'and' was not expected: write &&"},
           {"x > 1 or x < 3", "'x > 1 or x < 3', column 7: 'or' was not expected: write ||"},
           {"not x", "'not x', column 1: there is no field 'not': write !; known: x, text, half, a.b, v"},
           {"x = 3", "'x = 3', column 3: '=' has no meaning here; == compares"},
           {"x & 1", "'x & 1', column 3: '&' has no meaning here"},
           {"z + 1", "'z + 1', column 1: there is no field 'z'; known: x, text, half, a.b, v"},
           {"sin(x)", "'sin(x)', column 1: there is no function 'sin'; known: sleep_us, spin_us, throw_at, random_u32"},
           {"9223372036854775808", "'9223372036854775808', column 1: 9223372036854775808 does not fit int64"},
           {"-9223372036854775808", "'-9223372036854775808', column 2: 9223372036854775808 does not fit int64"},
           {"1e999", "'1e999', column 1: 1e999 does not fit float64"},
           {"1 + 010", "'1 + 010', column 5: '010' is not a number"},
           {"0x10", "'0x10', column 1: '0x10' is not a number"},
           {"3x", "'3x', column 1: '3x' is not a number"},
           {"1e", "'1e', column 1: '1e' is not a number"},
           {"1.2.3", "'1.2.3', column 1: '1.2.3' is not a number"},
           {"text + 1", "'text + 1', column 1: 'text' is bytes, which has no arithmetic here"},
           {"half", "'half', column 1: 'half' is float16, which has no arithmetic here"},
           {"sleep_us(1.5)", "'sleep_us(1.5)', column 1: sleep_us takes an integer"},
           {"throw_at(x)", "'throw_at(x)', column 11: throw_at takes two values"},
           {"throw_at(x, 1, 2)", "'throw_at(x, 1, 2)', column 14: ')' is missing"},
           {"random_u32(1)", "'random_u32(1)', column 12: ')' is missing"},
           {"+x", "'+x', column 1: a value is missing before '+'"},
           {"x; 1", "'x; 1', column 2: ';' has no meaning here"}}) {
    EXPECT_EQ(problem(text), expected);
  }
}

TEST(ExpressionParser, NestingIsLimitedAndLengthIsNot) {
  const auto nested = [](size_t n) { return std::string(n, '(') + "x" + std::string(n, ')'); };
  EXPECT_EQ(problem(nested(199)), "no error");
  EXPECT_THAT(problem(nested(100'000)), HasSubstr("nested deeper than 200 levels"));
  EXPECT_THAT(problem(std::string(100'000, '-') + "x"), HasSubstr("nested deeper than 200 levels"));
  EXPECT_THAT(problem(std::string(100'000, '!') + "x"), HasSubstr("nested deeper than 200 levels"));
  std::string sum = "x";
  for (int i = 0; i < 50'000; ++i) sum += " + 1";
  EXPECT_EQ(compile_expression(sum, kFields).program.stack, 2U);
  std::string right;
  for (int i = 0; i < 150; ++i) right += "1 + (";
  EXPECT_EQ(compile_expression(right + "x" + std::string(150, ')'), kFields).program.stack, 151U);
}

TEST(ExpressionParser, DrawsAreLimited) {
  std::string sum = "x";
  for (int i = 0; i < 32; ++i) sum += " + random_u32()";
  EXPECT_EQ(compile_expression(sum, kFields).draws, 32U);
  EXPECT_THAT(problem(sum + " + random_u32()"), HasSubstr("more than 32 calls of random_u32()"));
}

TEST(ExpressionParser, SaysWhatTheProgramNeeds) {
  const CompiledExpression made = compile_expression("v * 2.5 + a.b + v + random_u32() + x + random_u32()", kFields);
  EXPECT_THAT(made.fields, testing::ElementsAre(4, 3, 5, 0, 6)) << "each once; random words after the fields";
  EXPECT_EQ(made.draws, 2U);
  EXPECT_TRUE(made.is_float);
  EXPECT_FALSE(made.sleeps);
  EXPECT_EQ(made.shape, Shape({kUnknown}));
  EXPECT_EQ(made.program.stack, 2U);
  EXPECT_FALSE(compile_expression("2.5 > 1", kFields).is_float);
}

}  // namespace
}  // namespace headpond::plan

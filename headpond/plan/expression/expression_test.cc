// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/expression/expression.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "headpond/base/clock.h"

namespace headpond::plan {
namespace {

using testing::HasSubstr;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();

const Spec kFields = {{"", i64, {}},         {"f", f64, {}},   {"h", f32, {}},      {"byte", u8, {}}, {"big", u64, {}},
                      {"flag", boolean, {}}, {"a.b", i32, {}}, {"text", bytes, {}}, {"half", f16, {}}};

Element fields(int64_t x) {
  return Element{Tensor::scalar(x),
                 Tensor::scalar(2.5),
                 Tensor::scalar(0.1F),
                 Tensor::scalar(uint8_t{200}),
                 Tensor::scalar(~uint64_t{0}),
                 Tensor::scalar(true),
                 Tensor::scalar(int32_t{-7}),
                 Tensor::scalar("t"),
                 Tensor::from(std::span<const uint16_t>(std::array<uint16_t, 1>{0}), {})};
}

// "5", "2.5", "!error"
std::string value(const std::string& text, int64_t x = 7) {
  const Expression expression(text, kFields);
  const Element element = fields(x);
  if (expression.dtype() == i64) {
    const auto got = expression.integer(element);
    return got ? fmt::format("{}", *got) : "!" + got.error().message();
  }
  const auto got = expression.number(element);
  return got ? fmt::format("{:#}", *got) : "!" + got.error().message();
}

std::string problem(const std::string& text, const Spec& spec = kFields) {
  try {
    const Expression expression(text, spec);
    return "no error";
  } catch (const Exception& error) {
    EXPECT_EQ(error.error().kind(), ErrorKind::InvalidArgument);
    return error.error().message();
  }
}

struct Case {
  std::string text, expected;
};

void expect_all(const std::vector<Case>& cases, int64_t x = 7) {
  for (const Case& one : cases) EXPECT_EQ(value(one.text, x), one.expected) << one.text;
}

TEST(Expression, BindsAsInCpp) {
  expect_all({{"1 + 2 * 3", "7"},
              {"(1 + 2) * 3", "9"},
              {"10 - 4 - 3", "3"},
              {"100 / 5 / 2", "10"},
              {"100 / 5 * 2", "40"},
              {"2 * 7 % 4", "2"},
              {"-2 * -3", "6"},
              {"- - 5", "5"},
              {"1 < 2 == 2 > 1", "1"},
              {"1 == 1 < 2", "1"},  // 1 == (1 < 2)
              {"5 > 3 > 1", "0"},   // (5 > 3) > 1
              {"1 + 1 < 3", "1"},
              {"1 || 0 && 0", "1"},  // 1 || (0 && 0)
              {"0 && 0 || 1", "1"},
              {"1 == 2 || 3 != 4", "1"},
              {"!0 + 1", "2"},  // (!0) + 1
              {"!x == 0", "1"},
              {"-x % 4", "-3"},  // (-7) % 4
              {"!!5", "1"},
              {"!-1", "0"}});
}

TEST(Expression, ANameInBackQuotesIsThatOfAField) {
  const Spec named = {{"a/b", i64, {}}, {"abs", i64, {}}};
  EXPECT_EQ(
      Expression("`a/b` * 2 + `abs`", named).integer({Tensor::scalar(int64_t{3}), Tensor::scalar(int64_t{1})}).value(),
      7);
  EXPECT_THAT(problem("`c`", named), HasSubstr("there is no field 'c'; known: a/b, abs"));
  EXPECT_NE(problem("`abs`(1)", named), "no error") << "no function's";
  EXPECT_EQ(problem("abs + 1", named), "no error");
}

TEST(Expression, IntegersAreInt64AndWrap) {
  expect_all({{"7 / 2", "3"},
              {"-7 / 2", "-3"},
              {"7 / -2", "-3"},
              {"-7 % 3", "-1"},
              {"7 % -3", "1"},
              {"9223372036854775807", "9223372036854775807"},
              {"9223372036854775807 + 1", "-9223372036854775808"},
              {"-9223372036854775807 - 2", "9223372036854775807"},
              {"9223372036854775807 * 2", "-2"},
              {"x", "7"},
              {"byte + 100", "300"},
              {"big", "-1"},
              {"flag + 1", "2"},
              {"a.b * 2", "-14"}});
  expect_all({{"x / -1", "-9223372036854775808"},
              {"x % -1", "0"},
              {"-x", "-9223372036854775808"},
              {"x - 1", "9223372036854775807"}},
             kLeast);
  expect_all({{"x < x + 1", "0"}, {"x * x", "1"}}, kMost);
}

TEST(Expression, DivisionByZeroIsTheElementsError) {
  expect_all({{"1 / x", "!division by zero"},
              {"1 % x", "!division by zero"},
              {"1.0 / x", "inf"},
              {"-1 / (x * 1.0)", "-inf"},
              {"1 % 0.0 == 1 % 0.0", "0"}},
             0);
  expect_all({{"9223372036854775807 / (x - x)", "!division by zero"}});
}

TEST(Expression, AnIntegerMeetsAFloatAsFloat64) {
  expect_all({{"1e3", "1000.0"},
              {"1.5 + 1", "2.5"},
              {"1 + 1.5", "2.5"},
              {"7 / 2.0", "3.5"},
              {"7.0 / 2", "3.5"},
              {".5 + 1.", "1.5"},
              {"1e-2", "0.01"},
              {"2E+2", "200.0"},
              {"7.5 % 2", "1.5"},
              {"-7.5 % 2", "-1.5"},
              {"7 % 2.5", "2.0"},
              {"f", "2.5"},
              {"h", "0.10000000149011612"},
              {"-f", "-2.5"},
              {"9007199254740993 + 0.0", "9007199254740992.0"},
              {"9007199254740993 == 9007199254740992.0", "1"},
              {"f == 2.5", "1"},
              {"f > 2", "1"},
              {"2 >= f", "0"},
              {"3 - 1 - 0.5", "1.5"},
              {"5 / 2 * 1.0", "2.0"}});
}

TEST(Expression, ComparisonsGive0Or1) {
  expect_all({{"x == 7", "1"},
              {"x != 7", "0"},
              {"x < 7", "0"},
              {"x <= 7", "1"},
              {"x > 6", "1"},
              {"x >= 8", "0"},
              {"6 < x", "1"},
              {"0.0 / 0.0 == 0.0 / 0.0", "0"},
              {"0.0 / 0.0 != 0.0 / 0.0", "1"},
              {"(x > 1) + (x > 2)", "2"}});
}

TEST(Expression, AndAndOrAreCutShort) {
  expect_all({{"0 && 1 / 0", "0"},
              {"1 || 1 / 0", "1"},
              {"1 && 1 / 0", "!division by zero"},
              {"0 || 1 / 0", "!division by zero"},
              {"x == 0 || 10 / x > 3", "1"},
              {"5 && 3", "1"},
              {"0.5 && 2", "1"},
              {"0.0 || 0", "0"},
              {"!0.5", "0"},
              {"!0.0", "1"},
              {"0 && 1 / 0 || 1", "1"},
              {"(0 || 0.5) + (1 && 0)", "1"}},
             0);
}

TEST(Expression, TestFunctions) {
  expect_all({{"throw_at(x, 8)", "7"},
              {"throw_at(x, 7)", "!throw_at 7"},
              {"throw_at(x, 7.0)", "!throw_at 7"},
              {"throw_at(x, 1.5) + 1", "8.0"},
              {"throw_at(x + 1, 3) * 2", "16"},
              {"sleep_us(0) + x", "7"},
              {"spin_us(-5)", "0"}});
  for (const char* name : {"sleep_us", "spin_us"}) {
    const int64_t before = now_ns();
    EXPECT_EQ(value(std::string(name) + "(2000) + x"), "7");
    EXPECT_GE(now_ns() - before, 2'000'000) << name;
  }
  EXPECT_TRUE(Expression("1 + sleep_us(x)", kFields).sleeps());
  EXPECT_FALSE(Expression("spin_us(x)", kFields).sleeps());
}

TEST(Expression, RandomWordsFollowTheFields) {
  const Spec spec = {{"", i64, {}}};
  const Expression two("random_u32() * 10 + random_u32() + x * 1000", spec);
  EXPECT_EQ(two.draws(), 2U);
  EXPECT_EQ(two.integer(Element{Tensor::scalar(int64_t{5}), Tensor::scalar(uint32_t{3}), Tensor::scalar(~uint32_t{0})}),
            5000 + 30 + 4294967295);
}

TEST(Expression, GoesThroughArraysValueByValue) {
  const Spec spec = {{"a", u8, {2, kUnknown}}, {"b", f32, {kUnknown, 3}}, {"k", i64, {}}};
  const Expression sum("a * k + b", spec);
  EXPECT_EQ(sum.shape(), Shape({2, 3}));
  EXPECT_EQ(sum.dtype(), f64);
  const std::array<uint8_t, 6> a = {1, 2, 3, 4, 5, 6};
  const std::array<float, 6> b = {0.5F, 0, 0, 0, 0, -1};
  const Element element{Tensor::from<uint8_t>(a, {2, 3}), Tensor::from<float>(b, {2, 3}), Tensor::scalar(int64_t{10})};
  const auto got = sum.tensor(element);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->shape(), Shape({2, 3}));
  EXPECT_THAT(got->as<double>(), testing::ElementsAre(10.5, 20, 30, 40, 50, 59));
  EXPECT_EQ(Expression("a / (a - 3)", spec).tensor(element).error().message(), "division by zero");
  EXPECT_TRUE(Expression("k + 1", spec).is_scalar());

  const Element unlike{Tensor::from<uint8_t>(a, {2, 3}), Tensor::from<float>(b, {3, 2}), Tensor::scalar(int64_t{10})};
  EXPECT_EQ(sum.tensor(unlike).error().message(), "arrays of shapes [2,3] and [3,2] in one expression");
  EXPECT_EQ(problem("a + b", {{"a", u8, {2}}, {"b", u8, {3}}}),
            "'a + b', column 5: 'b' is of shape [3], other arrays here are of [2]");
  EXPECT_THAT(problem("a + b", {{"a", u8, {2}}, {"b", u8, {2, 2}}}), HasSubstr("'b' is of shape [2,2]"));
  const Element none{Tensor::from(std::span<const uint8_t>(), {2, 0}), Tensor::scalar(int64_t{0}),
                     Tensor::scalar(int64_t{0})};
  EXPECT_EQ(Expression("a / 0", spec).tensor(none)->shape(), Shape({2, 0})) << "no value, no error";
}

TEST(Expression, LongAndDeepOnesAreRun) {
  std::string sum = "x", right;
  for (int i = 0; i < 50'000; ++i) sum += " + 1";
  EXPECT_EQ(value(sum), "50007");
  for (int i = 0; i < 150; ++i) right += "1 + (";
  EXPECT_EQ(value(right + "x" + std::string(150, ')')), "157") << "a stack of 151 values";
}

}  // namespace
}  // namespace headpond::plan

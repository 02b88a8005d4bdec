// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/plan_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headpond::plan {
namespace {

using testing::StartsWith;

std::string problem(const std::string& text) {
  try {
    parse_toml(text, "f.toml");
    return "no error";
  } catch (const PlanError& error) {
    return error.error().message();
  }
}

TEST(PlanValue, EachKnowsItsLine) {
  const PlanValue whole = parse_toml("b = 1\na = [\n  2.5,\n  'x',\n]\n[t]\nflag = true\n", "f.toml");
  const auto& table = *whole.as<PlanTable>();
  ASSERT_EQ(table.size(), 3U);
  const auto& list = *table[0].second.as<PlanList>();
  EXPECT_EQ(list[0].line, 3);
  EXPECT_EQ(*list[0].as<double>(), 2.5);
  EXPECT_EQ(list[1].line, 4);
  EXPECT_EQ(*list[1].as<std::string>(), "x");
  EXPECT_EQ(table[1].second.line, 1);
  EXPECT_EQ(*table[1].second.as<int64_t>(), 1);
  EXPECT_EQ(table[2].second.line, 6);
  EXPECT_EQ(table[2].second.as<PlanTable>()->front().second.line, 7);
  EXPECT_EQ(kind_of(table[0].second), "a list");
  EXPECT_EQ(kind_of(table[1].second), "an integer");
  EXPECT_EQ(kind_of(list[0]), "a float");
  EXPECT_EQ(kind_of(whole), "a table");
}

TEST(PlanValue, WhatIsNoTomlIsRefusedWithItsLine) {
  EXPECT_THAT(problem("a = 1\nb = = 2\n"), StartsWith("f.toml:2: "));
  EXPECT_THAT(problem("a = 1\na = 2\n"), StartsWith("f.toml:2: "));
  EXPECT_THAT(problem("a = 'x\n"), StartsWith("f.toml:1: "));
  EXPECT_THAT(problem("\n\na = \"\xff\"\n"), StartsWith("f.toml:3: "));
  EXPECT_THAT(problem("a = 1\n[\x14"
                      "b]\n"),
              StartsWith("f.toml:2: "));
  for (const char* letter : {"\xc3\xa9", "\xef\xba\xbf", "\xe3\x80\x80", "\xe1\x9a\x80"}) {
    EXPECT_THAT(problem(std::string("\na = ") + letter), StartsWith("f.toml:2: ")) << letter;
    EXPECT_EQ(problem(std::string("a = '") + letter + "'  # " + letter), "no error") << letter;
  }
  EXPECT_THAT(problem("[.a]"), StartsWith("f.toml:1: "));
  EXPECT_EQ(problem("a = 1\nb = 2026-01-31\n"), "f.toml:2: dates and times are not supported");
  EXPECT_EQ(problem(""), "no error");
}

TEST(PlanValue, NestingIsLimited) {
  std::string dotted = "a";
  for (int i = 0; i < 200'000; ++i) dotted += ".a";
  EXPECT_EQ(problem("\n" + dotted + " = 1"), "f.toml:2: more than 100 dots in a name");
  EXPECT_EQ(problem("[" + dotted + "]"), "f.toml:1: more than 100 dots in a name");
  EXPECT_THAT(problem("a = " + std::string(100'000, '[')), StartsWith("f.toml:1: "));
  EXPECT_EQ(problem("a = '" + dotted + "'"), "no error");
  EXPECT_EQ(problem("a = [" + std::string(300, ' ') + "1.5" +
                    [] {
                      std::string more;
                      for (int i = 0; i < 200; ++i) more += ", 2.5";
                      return more;
                    }() +
                    "]"),
            "no error");
}

}  // namespace
}  // namespace headpond::plan

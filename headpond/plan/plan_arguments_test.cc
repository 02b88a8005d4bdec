// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/plan_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace headpond::plan {
namespace {

PlanArguments arguments(const PlanValue& value) {
  return {"f.toml", 1, "op", &value, {"count", "stddev", "window", "paths", "flag", "field"}};
}

std::string problem(const std::function<void()>& ask) {
  try {
    ask();
    return "no error";
  } catch (const PlanError& error) {
    return error.error().message();
  }
}

TEST(PlanArguments, GiveWhatIsThereAndElseTheFallback) {
  const PlanValue value =
      parse_toml("count = -3\nstddev = 2\npaths = ['a', 'b']\nflag = true\nfield = 'f'\n", "f.toml");
  const PlanArguments args = arguments(value);
  EXPECT_EQ(args.integer("count"), -3);
  EXPECT_EQ(args.integer("window", 5), 5);
  EXPECT_EQ(args.number("stddev"), 2.0);
  EXPECT_THAT(args.texts("paths"), testing::ElementsAre("a", "b"));
  EXPECT_TRUE(args.flag("flag", false));
  EXPECT_TRUE(args.flag("window", true));
  EXPECT_EQ(args.text("field"), "f");
  EXPECT_EQ(args.text("window", "w"), "w");
  EXPECT_EQ(args.line("paths"), 3);
  EXPECT_EQ(args.line("window"), 1);
}

TEST(PlanArguments, WrongOnesAreRefusedWithTheirLine) {
  const PlanValue value =
      parse_toml("\ncount = 1.5\nstddev = '2'\npaths = ['a', 1]\nflag = 1\nfield = []\nwindow = []\n", "f.toml");
  const PlanArguments args = arguments(value);
  EXPECT_EQ(problem([&] { args.integer("count"); }), "f.toml:2: op: count must be an integer, not a float");
  EXPECT_EQ(problem([&] { args.integer("count", 3); }), "f.toml:2: op: count must be an integer, not a float");
  EXPECT_EQ(problem([&] { args.number("stddev"); }), "f.toml:3: op: stddev must be a number, not a string");
  EXPECT_EQ(problem([&] { args.texts("paths"); }), "f.toml:4: op: paths must be a list of strings, not an integer");
  EXPECT_EQ(problem([&] { args.flag("flag", true); }), "f.toml:5: op: flag must be true or false, not an integer");
  EXPECT_EQ(problem([&] { args.text("field"); }), "f.toml:6: op: field must be a string, not a list");
  EXPECT_EQ(problem([&] { args.texts("window"); }), "f.toml:7: op: window is empty");
}

TEST(PlanArguments, UnknownAndMissingOnesAreNamed) {
  const PlanValue value = parse_toml("\n\ncont = 3\n", "f.toml");
  EXPECT_EQ(problem([&] { arguments(value); }), "f.toml:3: op: no argument 'cont'; did you mean 'count'?");
  EXPECT_EQ(problem([&] { PlanArguments("f.toml", 1, "cache", &value, {}); }),
            "f.toml:3: cache: no argument 'cont'; it takes none");
  const PlanArguments none("f.toml", 9, "op", nullptr, {"count"});
  EXPECT_EQ(problem([&] { none.integer("count"); }), "f.toml:9: op: count is missing");
  const PlanValue number{4, int64_t{3}};
  EXPECT_EQ(problem([&] { arguments(number); }), "f.toml:4: op: args is an integer, not a table");
}

TEST(PlanArguments, WordsLettersAndListsAreWhatTheyAre) {
  const PlanValue value = parse_toml("field = 'b'\nwindow = ''\npaths = [1, 'a']\n", "f.toml");
  const PlanArguments args = arguments(value);
  EXPECT_EQ(args.choice("field", {"a", "b"}), 1U);
  EXPECT_EQ(args.choice("count", {"a", "b"}), 0U);
  EXPECT_EQ(args.letter("field", ','), 'b');
  EXPECT_EQ(args.letter("window", ','), '\0');
  EXPECT_EQ(args.letter("count", ','), ',');
  EXPECT_EQ(args.list("paths").size(), 2U);
  EXPECT_EQ(problem([&] { args.choice("field", {"bc", "d"}); }), "f.toml:1: op: field is 'b'; did you mean 'bc'?");
  EXPECT_EQ(problem([&] { (void)args.list("field"); }), "f.toml:1: op: field must be a list, not a string");
  const PlanValue two = parse_toml("field = 'ab'\npaths = []\n", "f.toml");
  EXPECT_EQ(problem([&] { arguments(two).letter("field", ','); }), "f.toml:1: op: field is 'ab', more than one byte");
  EXPECT_EQ(problem([&] { (void)arguments(two).list("paths"); }), "f.toml:2: op: paths is empty");
  EXPECT_TRUE(arguments(two).list_or_none("paths").empty());
  EXPECT_TRUE(arguments(two).texts_or_none("paths").empty());
}

TEST(PlanArguments, TablesInAListAreArgumentsOfTheirOwn) {
  const PlanValue value = parse_toml("paths = [\n{ key = 'a' },\n{ kye = 'b' },\n3]\n", "f.toml");
  const PlanArguments args = arguments(value);
  const auto own = [&](size_t i) { return args.nested("paths", args.list("paths")[i], {"key"}); };
  EXPECT_EQ(own(0).text("key"), "a");
  EXPECT_EQ(problem([&] { own(0).text("dtype"); }), "f.toml:2: op: paths: dtype is missing");
  EXPECT_EQ(problem([&] { own(1); }), "f.toml:3: op: paths: no argument 'kye'; did you mean 'key'?");
  EXPECT_EQ(problem([&] { own(2); }), "f.toml:4: op: paths must be a list of tables, not an integer");
}

}  // namespace
}  // namespace headpond::plan

// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/expression/plan_functions.h"

#include <set>

#include "headpond/dataset/ops.h"
#include "headpond/plan/plan_test_internal.h"

namespace headpond::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kThree = step("range", "stop = 3");
const std::string kPairs = kThree + step("batch", "batch_size = 2");

std::string map_to(const std::string& function, const std::string& more = "") {
  return step("map", "function = '" + function + "'" + more);
}

TEST(PlanFunctions, MapReplacesOrAdds) {
  EXPECT_THAT(delivered(kThree + map_to("x * x")), ElementsAre(R"({"x":0})", R"({"x":1})", R"({"x":4})"));
  EXPECT_THAT(delivered(kThree + map_to("x / 2.0")), ElementsAre(R"({"x":0})", R"({"x":0.5})", R"({"x":1})"));
  EXPECT_THAT(delivered(kThree + map_to("x > 1", ", into = \"y\"")),
              ElementsAre(R"({"x":0,"y":0})", R"({"x":1,"y":0})", R"({"x":2,"y":1})"));
  EXPECT_THAT(delivered(kThree + map_to("x + 1", ", into = \"x\"")),
              ElementsAre(R"({"x":1})", R"({"x":2})", R"({"x":3})"));
  const std::string both = kThree + map_to("x + 1", ", into = \"y\"");
  EXPECT_THAT(delivered(both + map_to("y * 1.5", ", into = \"x\"")),
              ElementsAre(R"({"x":1.5,"y":1})", R"({"x":3,"y":2})", R"({"x":4.5,"y":3})"));
  EXPECT_THAT(delivered(both + map_to("x - y")), ElementsAre(R"({"x":-1})", R"({"x":-1})", R"({"x":-1})"));
  EXPECT_THAT(refused(kThree + map_to("x", ", into = \"\"")), HasSubstr("f.toml:6: map: into is empty"));
}

TEST(PlanFunctions, MapGoesThroughArrays) {
  EXPECT_THAT(delivered(kPairs + map_to("x * 10 + 1")), ElementsAre(R"({"x":[1,11]})", R"({"x":[21]})"));
  EXPECT_THAT(delivered(kPairs + map_to("x > 0", ", into = \"y\"")),
              ElementsAre(R"({"x":[0,1],"y":[0,1]})", R"({"x":[2],"y":[1]})"));
  EXPECT_THAT(delivered(kPairs + map_to("0.5 && x")), ElementsAre(R"({"x":[0,1]})", R"({"x":[1]})"));
  EXPECT_THAT(refused(kPairs + step("filter", "predicate = 'x > 1'")),
              HasSubstr("f.toml:9: filter: the predicate is over arrays of shape [?]"));
  EXPECT_THAT(delivered(kPairs + step("enumerate") + step("filter", "predicate = 'index == 1'")),
              ElementsAre(R"({"index":1,"x":[2]})"));
}

TEST(PlanFunctions, MapConverts) {
  const auto spec = [](const std::string& more) {
    return parse_plan(kThree + map_to("x / 2.0", more), "f.toml").dataset.spec()[0].dtype;
  };
  EXPECT_EQ(spec(", dtype = 'float32'"), f32);
  EXPECT_EQ(spec(""), f64);
  EXPECT_THAT(delivered(kThree + map_to("x / 2.0", ", dtype = 'uint8'")),
              ElementsAre(R"({"x":0})", R"({"x":0})", R"({"x":1})"));
  EXPECT_THAT(delivered(kPairs + map_to("x / 4.0", ", dtype = 'float32'")),
              ElementsAre(R"({"x":[0,0.25]})", R"({"x":[0.5]})"));
  EXPECT_THAT(delivered(kThree + map_to("x * 0.5", ", dtype = 'bool', into = 'y'")),
              ElementsAre(R"({"x":0,"y":false})", R"({"x":1,"y":true})", R"({"x":2,"y":true})"));
  EXPECT_THAT(refused(kThree + map_to("x", ", dtype = 'float16'")), HasSubstr("cannot be converted to float16"));
  EXPECT_THAT(refused(kThree + map_to("x", ", dtype = 'bytes'")), HasSubstr("cannot be converted to bytes"));
  EXPECT_THAT(refused(kThree + step("map", "kernels = [{ name = 'flip' }], dtype = 'uint8'")),
              HasSubstr("cannot be given together with kernels"));
}

TEST(PlanFunctions, WhatDoesNotFitIsTheElementsError) {
  EXPECT_THAT(delivered(kThree + map_to("x * 128", ", dtype = 'uint8'")),
              ElementsAre(R"({"x":0})", R"({"x":128})",
                          "!map(uint8(x * 128), version=0), range, record 2: 256 does not fit uint8"));
  const auto first = [](const std::string& function, const std::string& dtype) {
    return delivered(step("range", "stop = 1") + map_to(function, ", dtype = '" + dtype + "'"))[0];
  };
  EXPECT_EQ(first("x - 1", "int8"), R"({"x":-1})");
  EXPECT_THAT(first("x - 1", "uint64"), HasSubstr("-1 does not fit uint64"));
  EXPECT_EQ(first("x - 0.5", "uint8"), R"({"x":0})");
  EXPECT_EQ(first("x + 255.9", "uint8"), R"({"x":255})");
  EXPECT_THAT(first("x + 256.0", "uint8"), HasSubstr("256 does not fit uint8"));
  EXPECT_THAT(first("x / 0.0", "int32"), HasSubstr("nan does not fit int32"));
  EXPECT_THAT(first("1 / (x + 0.0)", "int64"), HasSubstr("inf does not fit int64"));
  EXPECT_THAT(first("x + 9223372036854775808.0", "int64"), HasSubstr("does not fit int64"));
  EXPECT_EQ(first("x - 9223372036854775808.0", "int64"), R"({"x":-9223372036854775808})");
}

TEST(PlanFunctions, FilterKeepsWhatIsNot0) {
  EXPECT_THAT(delivered(kThree + step("filter", "predicate = 'x % 2'")), ElementsAre(R"({"x":1})"));
  EXPECT_THAT(delivered(kThree + step("filter", "predicate = 'x * 0.5'")), ElementsAre(R"({"x":1})", R"({"x":2})"));
}

TEST(PlanFunctions, ErrorsNameStepAndElement) {
  EXPECT_THAT(delivered(kThree + map_to("6 / (x - 1)")),
              ElementsAre(R"({"x":-6})", "!map(6 / (x - 1), version=0), range, record 1: division by zero"));
  EXPECT_THAT(delivered(kThree + step("filter", "predicate = 'throw_at(x, 2) >= 1'") + "name = 'odd'\n"),
              ElementsAre(R"({"x":1})", "!filter(odd: throw_at(x, 2) >= 1, version=0), range, record 2: throw_at 2"));
}

TEST(PlanFunctions, RandomWordsAreThoseOfTheLibrary) {
  const Dataset library = range(3) | random_u32({.field = "a"}) | random_u32({.field = "b"}) | batch(3);
  Sequence sequence(library, {.seed = 9});
  const Element all = *sequence.next();
  std::vector<std::string> expected;
  for (size_t i = 0; i < 3; ++i) {
    expected.push_back(
        "{\"x\":" + std::to_string(all["a"].as<uint32_t>()[i] * int64_t{2} - all["b"].as<uint32_t>()[i]) + "}");
  }
  EXPECT_EQ(delivered(kThree + map_to("random_u32() * 2 - random_u32()"), {.seed = 9}), expected);
  EXPECT_NE(delivered(kThree + map_to("random_u32() * 2 - random_u32()") + "name = 'mine'\n", {.seed = 9}), expected);
}

TEST(PlanFunctions, RandomWordsLeaveNoField) {
  const std::string half = "predicate = 'random_u32() % 2 == 0'";
  const auto kept = delivered(step("range", "stop = 100") + step("filter", half));
  EXPECT_GT(kept.size(), 25U);
  EXPECT_LT(kept.size(), 75U);
  EXPECT_THAT(kept[0], testing::MatchesRegex(R"(\{"x":[0-9]+\})"));
  EXPECT_THAT(delivered(kThree + map_to("random_u32() >= 0", ", into = \"y\""))[2], R"({"x":2,"y":1})");
  const auto words = delivered(kPairs + map_to("random_u32() + 0 * x"))[0];
  EXPECT_THAT(words, testing::MatchesRegex(R"(\{"x":\[[0-9]+,[0-9]+\]\})"));
}

TEST(PlanFunctions, WhatSleepsSaysSo) {
  const auto blocks = [](const std::string& text) {
    return parse_plan(kThree + text, "f.toml").dataset.node()->facts().blocking;
  };
  EXPECT_TRUE(blocks(map_to("x + sleep_us(1)")));
  EXPECT_TRUE(blocks(map_to("x + sleep_us(1)", ", into = \"y\"")));
  EXPECT_TRUE(blocks(step("filter", "predicate = 'sleep_us(1) || x'")));
  EXPECT_FALSE(blocks(map_to("x + spin_us(1)")));
}

TEST(PlanFunctions, AnotherExpressionIsAnotherPlan) {
  const auto plan = [](const std::string& text) { return parse_plan(kThree + text, "f.toml").dataset.plan(); };
  EXPECT_EQ(plan(map_to("x + 1")), "range(start=0, stop=3, step=1)\nmap(x + 1, version=0)\n");
  EXPECT_NE(plan(map_to("x + 1")), plan(map_to("x + 2")));
  EXPECT_NE(plan(map_to("x", ", into = \"y\"")), plan(map_to("x")));
  EXPECT_EQ(plan(step("filter", "predicate = \"\"\"x\n> 1\"\"\"")),
            "range(start=0, stop=3, step=1)\nfilter(x > 1, version=0)\n");
}

}  // namespace
}  // namespace headpond::plan

// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/nested/plan_nested.h"

#include <fstream>

#include "headpond/plan/plan_test_internal.h"
#include "tests/test_files.h"

namespace headpond::plan {
namespace {

using testing::HasSubstr;

std::string range(const std::string& stop, const std::string& key = "step") {
  return step("range", "stop = " + stop, key);
}
std::string nested(const std::string& op, const std::string& args = "chain = 'c'") { return step(op, args); }

TEST(PlanNested, FlatMapMakesItsChainForEachElement) {
  expect(range("4") + nested("flat_map") + range("'{x}'", "chain.c"),
         {R"("x":0)", R"("x":0)", R"("x":1)", R"("x":0)", R"("x":1)", R"("x":2)"});
  expect(range("3") + nested("flat_map") + range("2", "chain.c") + step("map", "function = 'x - 10 * {x}'", "chain.c"),
         {R"("x":0)", R"("x":1)", R"("x":-10)", R"("x":-9)", R"("x":-20)", R"("x":-19)"});
  expect(range("2") + nested("flat_map") + step("element", "", "chain.c") + step("repeat", "count = 2", "chain.c"),
         {R"("x":0)", R"("x":0)", R"("x":1)", R"("x":1)"});
}

TEST(PlanNested, FieldsAreFilledInByName) {
  const std::string two = range("2") + step("map", "function = 'x * 0.5'", "step") + step("enumerate", "start = 1");
  expect(two + nested("flat_map") + range("'{index}'", "chain.c") + step("map", "function = 'x + {x}'", "chain.c"),
         {R"("x":0)", R"("x":0.5)", R"("x":1.5)"});
  expect(two + nested("flat_map") + step("element", "", "chain.c"), {R"("index":1,"x":0)", R"("index":2,"x":0.5)"});
}

TEST(PlanNested, InterleaveTakesTurns) {
  const std::string chain = range("'{x}'", "chain.c") + step("map", "function = '{x} * 10 + x'", "chain.c");
  expect(step("range", "start = 1, stop = 4") + nested("interleave", "chain = 'c', cycle_length = 2") + chain,
         {R"("x":10)", R"("x":20)", R"("x":21)", R"("x":30)", R"("x":31)", R"("x":32)"});
  expect(step("range", "start = 1, stop = 4") + nested("interleave", "chain = 'c', block_length = 2") + chain,
         {R"("x":10)", R"("x":20)", R"("x":21)", R"("x":30)", R"("x":31)", R"("x":32)"});
}

TEST(PlanNested, InterleaveTakesInputs) {
  const std::string inputs = "[[step]]\nop = 'interleave'\ninputs = ['a', 'b']\n";
  const std::string chains = range("3", "chain.a") + step("range", "start = 7, stop = 9", "chain.b");
  expect(inputs + chains, {R"("x":0)", R"("x":7)", R"("x":1)", R"("x":8)", R"("x":2)"});
  expect(inputs + "args = { cycle_length = 1 }\n" + chains,
         {R"("x":0)", R"("x":1)", R"("x":2)", R"("x":7)", R"("x":8)"});
  EXPECT_THAT(refused(inputs + chains + step("map", "function = 'x * 0.5'", "chain.b")), HasSubstr("interleave: "));
  EXPECT_THAT(refused(inputs + "args = { chain = 'a' }\n" + chains),
              HasSubstr("f.toml:4: interleave: chain needs a step"));
}

TEST(PlanNested, FilesAreNamedByElements) {
  const test::TempFolder temporary;
  const std::string folder = temporary.file("");
  for (const char* name : {"a", "b"}) std::ofstream(folder + name) << name << "1\n" << name << "2\n";
  const std::string files = step("list_files", "paths = ['" + folder + "a', '" + folder + "b'], shuffle = false");
  expect(files + nested("interleave") + step("text_lines", "paths = ['{x}']", "chain.c"),
         {R"("x":{"bytes":"YTE="})", R"("x":{"bytes":"YjE="})", R"("x":{"bytes":"YTI="})", R"("x":{"bytes":"YjI="})"});
}

TEST(PlanNested, ManyElementsMakeAStream) {
  expect(range("9000000000000000000") + nested("flat_map") + range("2", "chain.c") + step("take", "count = 3"),
         {R"("x":0)", R"("x":1)", R"("x":0)"});
}

TEST(PlanNested, WhatIsWrongIsNamedWithItsLine) {
  const std::string one = range("'{x}'", "chain.c");
  EXPECT_THAT(refused(range("3") + nested("flat_map", "chain = 'd'") + one), HasSubstr("f.toml:6: no chain 'd'"));
  EXPECT_THAT(refused(range("3") + step("flat_map") + one), HasSubstr("f.toml:5: flat_map: chain is missing"));
  EXPECT_THAT(refused(range("3") + step("interleave") + one), HasSubstr("f.toml:5: interleave: chain is missing"));
  EXPECT_THAT(refused(step("interleave")), HasSubstr("f.toml:2: interleave needs inputs"));
  EXPECT_THAT(refused(nested("flat_map") + one), HasSubstr("f.toml:2: flat_map needs a step before it"));
  EXPECT_THAT(refused(step("element")), HasSubstr("element: stands only in a chain"));
  EXPECT_THAT(refused(range("3") + nested("flat_map") + range("'{y}'", "chain.c")),
              HasSubstr("range: stop must be an integer, not a string"));
  EXPECT_THAT(refused(range("3") + nested("flat_map") + one + step("flat_map", "chain = 'c'", "chain.c")),
              HasSubstr("chain 'c' contains itself: c -> c"));
  const auto failed = delivered(step("range", "start = -1, stop = 1") + nested("flat_map") + range("3", "chain.c") +
                                step("shard", "num_shards = 2, index = '{x}'", "chain.c"));
  ASSERT_FALSE(failed.empty());
  EXPECT_THAT(failed[0], testing::AllOf(HasSubstr("!flat_map(c "),
                                        HasSubstr("range, record 0: f.toml:12: shard: num_shards=2, index=-1")));
}

TEST(PlanNested, ChainsInChainsAreLimited) {
  std::string many = range("3") + nested("flat_map");
  for (const char* chain : {"c", "d", "e"}) {
    const std::string key = std::string("chain.") + chain;
    many += range("2", key);
    for (int i = 0; i < 100 && *chain != 'e'; ++i)
      many += step("flat_map", std::string("chain = '") + (*chain == 'c' ? "d" : "e") + "'", key);
  }
  EXPECT_THAT(refused(many), HasSubstr("more than 1000 steps"));
}

TEST(PlanNested, AStateBelongsToTheChain) {
  const auto identity = [](const std::string& stop) {
    return internal::identity_of(parse_plan(range("3") + nested("flat_map") + range(stop, "chain.c"), "f").dataset);
  };
  EXPECT_EQ(identity("2"), identity("2"));
  EXPECT_NE(identity("2"), identity("3"));
  EXPECT_NE(identity("2"), identity("'{x}'"));
}

TEST(PlanNested, FillsOnlyKnownFieldsWithSingleValues) {
  const Spec spec = {{"a", i64, {}}, {"b", f32, {}}, {"c", u8, {2}}, {"d", DType::bytes, {}}};
  Element element;
  element.append(Tensor::scalar(int64_t{-3}));
  element.append(Tensor::scalar(2.0F));
  element.append(Tensor::from(std::vector<uint8_t>{1, 2}, {2}));
  element.append(Tensor::scalar(std::string_view("text")));
  const auto text = [&](const char* given) { return text_of(filled({.line = 1, .is = given}, spec, element)); };
  EXPECT_EQ(text("{a}"), "-3");
  EXPECT_EQ(text("{b}"), "2f");
  EXPECT_EQ(text("x + {a} * {b}{a}"), "14'x + -3 * 2.0-3'");
  EXPECT_EQ(text("{c} {e} {d}"), "12'{c} {e} text'");
}

}  // namespace
}  // namespace headpond::plan

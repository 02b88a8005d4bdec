// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/plan_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "headpond/plan/plan_test_internal.h"
#include "tests/test_files.h"

namespace headpond::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kRange = step("range", "stop = 3");

TEST(PlanFile, StepsFollowEachOther) {
  const std::string text = R"(# Comments, and any order of keys
seed = 11
[[step]]
args = { stop = 1000, step = 250 }
name = "numbers"
op = "range"
[[step]]
op = "batch"
policy = "fail"
[step.args]
batch_size = 3
drop_remainder = true
)";
  EXPECT_THAT(delivered(text), ElementsAre(R"({"x":[0,250,500]})"));
  EXPECT_EQ(parse_plan(text, "f.toml").seed, 11U);
  EXPECT_EQ(parse_plan(kRange, "f.toml").seed, std::nullopt);
}

TEST(PlanFile, AStepMayHaveAPolicyForElementsThatFail) {
  const auto plan = [](const std::string& policy) {
    return step("range", "stop = 4") + step("map", "function = 'throw_at(x, 1)'") + "policy = '" + policy + "'\n" +
           step("map", "function = 'throw_at(x, 3)'");
  };
  const std::string first = R"({"x":0})", third = R"({"x":2})";
  EXPECT_THAT(delivered(plan("skip")), ElementsAre(first, third, HasSubstr("throw_at 3")));
  EXPECT_THAT(delivered(plan("replace")), ElementsAre(first, first, third, HasSubstr("throw_at 3")));
  for (const char* policy : {"fail", "retry"}) {
    EXPECT_THAT(delivered(plan(policy)), ElementsAre(first, HasSubstr("throw_at 1")));
  }
  EXPECT_THAT(refused(step("range", "stop = 4") + step("batch", "batch_size = 3") + "policy = 'replace'\n"),
              "f.toml:7: policy 'replace' needs fields of known shapes, not {0: int64[?]}");
}

TEST(PlanFile, ChainsMayBeUsedOftenAndNested) {
  const std::string text =
      "[[step]]\nop = 'zip'\ninputs = ['a', 'b', 'sum']\n" + step("range", "stop = 2", "chain.a") +
      "[[chain.b]]\nop = 'concatenate'\ninputs = ['a', 'a']\n" + step("map", "function = 'x * 10'", "chain.b") +
      "[[chain.sum]]\nop = 'zip'\ninputs = ['a', 'b']\n" + step("map", "function = 'a + b'", "chain.sum");
  EXPECT_THAT(delivered(text), ElementsAre(R"({"a":0,"b":0,"sum":0})", R"({"a":1,"b":10,"sum":11})"));
}

TEST(PlanFile, WhatIsWrongIsNamedWithItsLine) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "f.toml:1: no [[step]]: a pipeline has at least one"},
           {"step = []", "f.toml:1: step is empty"},
           {"\nstep = 3", "f.toml:2: a step is written as [[step]]"},
           {"\nstep = [3]", "f.toml:2: a step is written as [[step]]"},
           {"[step]\nop = 'range'", "f.toml:1: a step is written as [[step]]"},
           {"steps = 3\n" + kRange, "f.toml:1: no key 'steps'; did you mean 'step'?"},
           {"seed = -1\n" + kRange, "f.toml:1: seed must be an integer of at least 0"},
           {"seed = 1.0\n" + kRange, "f.toml:1: seed must be an integer of at least 0"},
           {"[[step]]\nargs = { stop = 3 }", "f.toml:1: a step needs op"},
           {"[[step]]\nop = 3", "f.toml:2: op must be a string, not an integer"},
           {"[[step]]\nop = 'range'\narg = { stop = 3 }", "f.toml:3: a step has no key 'arg'; did you mean 'args'?"},
           {"[[step]]\nop = 'range'\nstop = 3",
            "f.toml:3: a step has no key 'stop'; known: op, name, policy, args, inputs"},
           {kRange + step("shufle"), "f.toml:5: no operator 'shufle'; did you mean 'shuffle'?"},
           {kRange + step("batch", "size = 3"), "f.toml:6: batch: no argument 'size'; did you mean 'batch_size'?"},
           {kRange + step("batch"), "f.toml:5: batch: batch_size is missing"},
           {kRange + step("batch", "batch_size = 'x'"), "f.toml:6: batch: batch_size must be an integer, not a string"},
           {kRange + step("batch", "batch_size = 0"), "f.toml:6: batch: "},
           {kRange + "[[step]]\nop = 'batch'\n[step.args]\nbatch_size = 0\n", "f.toml:7: batch: "},
           {step("range", "stop = 3, step = 0"), "f.toml:3: range: a step of 0"},
           {step("take", "count = 3"), "f.toml:2: take needs a step before it"},
           {kRange + kRange, "f.toml:5: range must be the first step of its chain"},
           {kRange + "[[step]]\nop = 'take'\nargs = { count = 1 }\ninputs = ['a']", "f.toml:7: take takes no inputs"},
           {"[[step]]\nop = 'range'\nargs = { stop = 1 }\ninputs = ['a']", "f.toml:4: range takes no inputs"},
           {kRange + "policy = 'fial'", "f.toml:4: no policy 'fial'; did you mean 'fail'?"},
           {kRange + "policy = 3", "f.toml:4: policy must be a string, not an integer"},
           {kRange + step("filter", "predicate = 'x %'"), "f.toml:6: 'x %', column 4: a value is missing"},
           {kRange + step("idx"), "f.toml:5: idx must be the first step of its chain"},
           {step("idx", "paths = ['/no/such/file']"), "f.toml:3: idx: NotFound: "},
           {"a = 1979-05-27\n" + kRange, "f.toml:1: dates and times are not supported"},
           {"[[step]\n", "f.toml:1: "}}) {
    EXPECT_THAT(refused(text), HasSubstr(expected)) << text;
  }
  EXPECT_THAT(
      refused(kRange + step("quantize")),
      HasSubstr("f.toml:5: no operator 'quantize'; known: range, counter, random, list_files, idx, tfrecord, "));
}

TEST(PlanFile, WrongChainsAreNamedWithTheirLine) {
  const std::string zip = "[[step]]\nop = 'zip'\n";
  const std::string a = step("range", "stop = 2", "chain.a");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {zip, "f.toml:2: zip needs inputs"},
      {zip + "inputs = []", "f.toml:3: zip: inputs is empty"},
      {zip + "inputs = 'a'", "f.toml:3: zip: inputs must be a list of strings, not a string"},
      {zip + "inputs = [1]", "f.toml:3: zip: inputs must be a list of strings, not an integer"},
      {zip + "inputs = ['b']\n" + a, "f.toml:3: no chain 'b'"},
      {zip + "inputs = ['a']", "f.toml:3: no chain 'a'"},
      {zip + "inputs = ['a', 'a']\n" + a, "f.toml:2: zip: two fields named 'a'"},
      {zip + "inputs = ['a']\n[[chain.a]]\nop = 'zip'\ninputs = ['b']\n[[chain.b]]\nop = 'zip'\ninputs = ['a']\n",
       "f.toml:9: chain 'a' contains itself: a -> b -> a"},
      {zip + "inputs = ['a']\n[[chain.a]]\nop = 'zip'\ninputs = ['a']\n",
       "f.toml:6: chain 'a' contains itself: a -> a"},
      {kRange + "[[chain.a]]\nop = 'zip'\ninputs = ['a']\n", "f.toml:6: chain 'a' contains itself: a -> a"},
      {kRange + zip + "inputs = ['a']\n" + a, "f.toml:5: zip must be the first step of its chain"},
      {kRange + "[chain]\na = []\n", "f.toml:5: chain.a is empty"},
      {kRange + "[chain.a]\nop = 'range'\n", "f.toml:4: a step is written as [[chain.a]]"},
      {"chain = 3\n" + kRange, "f.toml:1: a chain is written as [[chain.NAME]]"},
      {zip + "args = { inputs = ['a'] }\n" + a, "f.toml:3: zip: no argument 'inputs'; it takes none"}};
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(refused(text), HasSubstr(expected)) << text;
  }
}

TEST(PlanFile, SizeIsLimited) {
  std::string many = kRange;
  for (int i = 0; i < 1000; ++i) many += step("cache");
  EXPECT_EQ(refused(many), "f.toml:2002: more than 1000 steps");
  std::string drawn = kRange, words = "random_u32()";
  for (int i = 0; i < 30; ++i) words += " + random_u32()";
  for (int i = 0; i < 200; ++i) drawn += step("map", "function = 'x + " + words + "'");
  EXPECT_THAT(refused(drawn), HasSubstr("would be 1025 steps deep")) << "each draw is an operator of its own";
  std::string doubled =
      "[[step]]\nop = 'concatenate'\ninputs = ['c30', 'c30']\n" + step("range", "stop = 1", "chain.c0");
  for (int i = 1; i <= 30; ++i) {
    const std::string below = "'c" + std::to_string(i - 1) + "'";
    doubled += fmt::format("[[chain.c{}]]\nop = 'concatenate'\ninputs = [{}, {}]\n", i, below, below);
  }
  EXPECT_THAT(refused(doubled), HasSubstr("more than 5000 operators"));
}

TEST(PlanFile, IsReadFromAFile) {
  const test::TempFolder folder;
  const std::string path = folder.file("plan.toml");
  std::ofstream(path) << kRange;
  EXPECT_EQ(read_plan_file(path).dataset.cardinality(), 3);
  std::filesystem::remove(path);
  try {
    read_plan_file(path);
    FAIL() << "no error";
  } catch (const PlanError& error) {
    EXPECT_THAT(error.error().message(), testing::StartsWith(path + ": "));
    EXPECT_EQ(error.error().message().rfind(path), 0U) << "the path is named once";
  }
  std::filesystem::create_directory(path);
  EXPECT_THAT([&] { read_plan_file(path); },
              testing::ThrowsMessage<PlanError>("InvalidArgument: " + path + ": is a folder"));
}

}  // namespace
}  // namespace headpond::plan

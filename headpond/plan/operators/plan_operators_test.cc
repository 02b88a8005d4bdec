// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/operators/plan_operators.h"

#include "headpond/plan/plan_test_internal.h"
#include "headpond/plan/step_call.h"
#include "tests/test_files.h"

namespace headpond::plan {
namespace {

using testing::HasSubstr;

std::string range(int stop) { return step("range", "stop = " + std::to_string(stop)); }
std::string join(const std::string& op, const std::string& inputs) {
  return "[[step]]\nop = '" + op + "'\ninputs = [" + inputs + "]\n";
}

TEST(PlanOperators, ChooseAndCount) {
  expect(step("range", "start = 5, stop = 0, step = -2"), {R"("x":5)", R"("x":3)", R"("x":1)"});
  expect(range(5) + step("take", "count = 2"), {R"("x":0)", R"("x":1)"});
  expect(range(2) + step("take", "count = -1"), {R"("x":0)", R"("x":1)"});
  expect(range(3) + step("skip", "count = 2"), {R"("x":2)"});
  expect(range(3) + step("skip", "count = -5"), {});
  expect(range(5) + step("shard", "num_shards = 3, index = 1"), {R"("x":1)", R"("x":4)"});
  expect(range(2) + step("repeat", "count = 2"), {R"("x":0)", R"("x":1)", R"("x":0)", R"("x":1)"});
  expect(range(2) + step("repeat") + step("take", "count = 3"), {R"("x":0)", R"("x":1)", R"("x":0)"});
  expect(range(2) + step("enumerate", "start = 7"), {R"("index":7,"x":0)", R"("index":8,"x":1)"});
  expect(range(2) + step("enumerate") + step("map", "function = 'index + x'"), {R"("x":0)", R"("x":2)"});
  expect(range(2) + step("cache"), {R"("x":0)", R"("x":1)"});
}

TEST(PlanOperators, NameFieldsOfATupleByTheirPositions) {
  const Dataset pair = zip({headpond::range(2), headpond::range(5, 7)});
  const auto spec = [&](const std::string& op, PlanTable args, const std::string& chain = "") {
    return to_string(build_step({.op = op, .args = std::move(args), .inputs = {{chain, pair}}}).spec());
  };
  EXPECT_EQ(spec("enumerate", {}), "{0: int64[], 1: int64[], 2: int64[]}") << "a tuple stays one";
  EXPECT_EQ(spec("zip", {}, "a"), "{'a.0': int64[], 'a.1': int64[]}");
  EXPECT_EQ(spec("random_u32", {}), "{'0': int64[], '1': int64[], 'random': uint32[]}");
  EXPECT_EQ(spec("map", {{"function", {.is = std::string("`0` + `1`")}}}), "{0: int64[]}");
}

TEST(PlanOperators, KeepElementsOnDisk) {
  const test::TempFolder folder;
  const std::string filename = "filename = '" + folder.path() + "'";
  for (int run = 0; run < 2; ++run) {
    expect(range(2) + step("map", "function = 'x + 5'") + step("cache", filename), {R"("x":5)", R"("x":6)"});
    expect(range(2) + step("map", "function = 'x + 6'") + step("cache", filename), {R"("x":6)", R"("x":7)"});
    expect(range(2) + step("cache", filename + ", spill = true, memory = 8, disk = 100000, compare_times = false"),
           {R"("x":0)", R"("x":1)"});
    expect(range(2) + step("snapshot", "path = '" + folder.path() + "'"), {R"("x":0)", R"("x":1)"});
  }
  EXPECT_EQ(folder.count(), 3U) << "one for each input";
  EXPECT_THAT(refused(step("load", "path = '" + folder.file("none") + "'")), HasSubstr("none/dataset"));
}

TEST(PlanOperators, CountersAndRandomNumbersHaveNoEnd) {
  expect(step("counter", "start = 5, step = -2") + step("take", "count = 2"), {R"("x":5)", R"("x":3)"});
  expect(step("random") + step("take", "count = 2") + step("map", "function = 'x >= 0 && x < 4294967296'"),
         {R"("x":1)", R"("x":1)"});
  const auto drawn = [](const std::string& args) {
    return delivered(step("random", args) + step("take", "count = 3"));
  };
  EXPECT_EQ(drawn("seed = 5"), drawn("seed = 5"));
  EXPECT_NE(drawn("seed = 5"), drawn("seed = 6"));
  EXPECT_THAT(refused(step("random", "seed = -1")), HasSubstr("f.toml:3: random: seed is -1, which is negative"));
}

TEST(PlanOperators, LookAtElementsInTheirOrder) {
  expect(range(5) + step("take_while", "predicate = 'x < 2'"), {R"("x":0)", R"("x":1)"});
  expect(range(3) + step("take_while", "predicate = 'random_u32() >= 0'"), {R"("x":0)", R"("x":1)", R"("x":2)"});
  expect(range(5) + step("map", "function = 'x / 2'") + step("unique"), {R"("x":0)", R"("x":1)", R"("x":2)"});
  expect(range(3) + step("assert_cardinality", "count = 3") + step("prefetch") + step("prefetch", "buffer_size = 2"),
         {R"("x":0)", R"("x":1)", R"("x":2)"});
  EXPECT_THAT(refused(range(3) + step("assert_cardinality", "count = 4")), HasSubstr("expected 4 elements"));
  expect(range(4) + step("map", "function = 'throw_at(x, 2)'") + step("ignore_errors"),
         {R"("x":0)", R"("x":1)", R"("x":3)"});
}

TEST(PlanOperators, CarryAState) {
  expect(range(4) + step("scan", "initial_state = 10, scan_func = 'state + x'"),
         {R"("x":10)", R"("x":11)", R"("x":13)", R"("x":16)"});
  expect(range(3) + step("scan", "initial_state = 0.5, scan_func = 'x', output = 'x - state'"),
         {R"("x":-0.5)", R"("x":1)", R"("x":1)"});
  expect(range(4) + step("scan", "initial_state = 0, scan_func = 'state + throw_at(x, 1)'") + step("on_error"),
         {R"("x":0)", R"("x":2)", R"("x":5)"});
  expect(range(4) + step("batch", "batch_size = 2") +
             step("scan", "initial_state = 1, scan_func = 'state * 2', output = 'x + state'"),
         {R"("x":[1,2])", R"("x":[4,5])"});
  const auto refusal = [](const std::string& args) { return refused(range(3) + step("scan", args)); };
  EXPECT_THAT(refusal("scan_func = 'state'"), HasSubstr("scan: initial_state is missing"));
  EXPECT_THAT(refusal("initial_state = 'a', scan_func = 'state'"), HasSubstr("initial_state must be a number"));
  EXPECT_THAT(refusal("initial_state = 0, scan_func = 'state + 0.5'"), HasSubstr("write it with a point"));
  EXPECT_THAT(refusal("initial_state = 0, scan_func = 'random_u32()'"), HasSubstr("put a step random_u32 before"));
  EXPECT_THAT(refusal("initial_state = 0, scan_func = 'y'"), HasSubstr("y"));
  EXPECT_THAT(refused(range(3) + step("batch", "batch_size = 2") + step("scan", "initial_state = 0, scan_func = 'x'")),
              HasSubstr("must give a single value"));
  EXPECT_THAT(refused(range(3) + step("map", "function = 'x', into = 'state'") +
                      step("scan", "initial_state = 0, scan_func = 'state'")),
              HasSubstr("the input has a field 'state'"));
}

TEST(PlanOperators, HandleBadElements) {
  const std::string bad = step("map", "function = 'throw_at(x, 1)'");
  expect(range(3) + bad + step("on_error"), {R"("x":0)", R"("x":2)"});
  expect(range(3) + bad + step("on_error", "policy = 'substitute', substitute = 7"),
         {R"("x":0)", R"("x":7)", R"("x":2)"});
  expect(range(2) + step("map", "function = 'x * 0.5', into = 'half'") +
             step("map", "function = 'throw_at(x, 1)', into = 'x'") + step("batch", "batch_size = 2") +
             step("on_error", "max_errors = 1, window = 5, max_error_share = 0.5"),
         {R"("x":[0],"half":[0])"});
  expect(range(2) + step("map", "function = 'x * 0.5', into = 'half'") +
             step("map", "function = 'throw_at(x, 1)', into = 'x'") +
             step("on_error", "policy = 'substitute', substitute = { x = -1, half = 0.25 }"),
         {R"("x":0,"half":0)", R"("x":-1,"half":0.25)"});
  const auto refusal = [&](const std::string& args) { return refused(range(3) + bad + step("on_error", args)); };
  EXPECT_THAT(refusal("policy = 'hide'"), HasSubstr("policy"));
  EXPECT_THAT(refusal("policy = 'substitute'"), HasSubstr("policy=substitute needs a substitute, an element of {"));
  EXPECT_THAT(refusal("substitute = 7"), HasSubstr("another policy"));
  EXPECT_THAT(refusal("policy = 'substitute', substitute = 'seven'"), HasSubstr("substitute"));
  EXPECT_THAT(refusal("policy = 'substitute', substitute = { y = 7 }"), HasSubstr("y"));
  EXPECT_THAT(refusal("give_up_after = 0"), HasSubstr("give_up_after=0: must be 1 to 1000"));
  EXPECT_THAT(refused(range(3) + step("enumerate") + step("on_error", "policy = 'substitute', substitute = 7")),
              HasSubstr("must be a table by field"));
  EXPECT_THAT(
      refused(range(3) + step("batch", "batch_size = 2") + step("on_error", "policy = 'substitute', substitute = 7")),
      HasSubstr("fields of known shapes"));
}

TEST(PlanOperators, SelectAndWeigh) {
  expect(range(5) + step("select", "indices = [3, 0, 3]"), {R"("x":3)", R"("x":0)", R"("x":3)"});
  EXPECT_TRUE(delivered(range(5) + step("select", "indices = []")).empty());
  EXPECT_THAT(refused(range(5) + step("select", "indices = [5]")), HasSubstr("f.toml:6: select: index 5"));
  expect(range(3) + step("sample_weighted", "weights = [0, 0.5, 0], count = 2"), {R"("x":1)", R"("x":1)"});
  expect(range(3) + step("sample_weighted", "weights = [0, 2, 0], count = 1, replacement = false"), {R"("x":1)"});
  expect(range(6) + step("rejection_resample", "class_function = 'x % 2', target_dist = [0, 1]") +
             step("map", "function = 'x % 2'") + step("unique"),
         {R"("x":1)"});
  expect(range(4) +
             step("rejection_resample", "class_function = 'x % 2', target_dist = [0, 1], initial_dist = [0.5, 0.5]"),
         {R"("x":1)", R"("x":3)"});
  EXPECT_THAT(refused(range(4) + step("rejection_resample", "class_function = 'x * 0.5', target_dist = [1]")),
              HasSubstr("the class must be one integer"));
}

TEST(PlanOperators, MixChains) {
  const std::string a = step("range", "stop = 2", "chain.a"), b = step("range", "start = 5, stop = 9", "chain.b");
  const auto joined = [](const std::string& op, const std::string& inputs, const std::string& args) {
    return "[[step]]\nop = '" + op + "'\ninputs = [" + inputs + "]\nargs = { " + args + " }\n";
  };
  expect(join("mix", "'a', 'b'") + a + b, {R"("x":0)", R"("x":5)", R"("x":1)", R"("x":6)"});
  expect(joined("mix", "'a', 'b'", "schedule = [{from = 0, weights = [1, 0]}, {from = 1, weights = [0, 1]}]") + a + b,
         {R"("x":0)", R"("x":5)", R"("x":6)", R"("x":7)", R"("x":8)"});
  EXPECT_THAT(refused(joined("mix", "'a', 'b'", "weights = [1, 1], schedule = [{from = 0, weights = [1, 0]}]") + a + b),
              HasSubstr("schedule cannot be given together with weights"));
  expect(joined("mix", "'a', 'b'", "weights = [0, 1]") + a + b, {R"("x":5)", R"("x":6)", R"("x":7)", R"("x":8)"});
  expect(joined("sample_from_datasets", "'a', 'b'", "weights = [1.0, 0]") + a + b, {R"("x":0)", R"("x":1)"});
  expect(join("choose_from_datasets", "'a', 'b', 'a'") + a + b, {R"("x":0)", R"("x":5)"});
}

TEST(PlanOperators, EndlessEmptyInputsEnd) {
  expect(range(0) + step("repeat"), {});
  const auto got = delivered(range(3) + step("filter", "predicate = 'x > 5'") + step("repeat"));
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0][0], '!');
}

TEST(PlanOperators, Batches) {
  expect(range(3) + step("batch", "batch_size = 2"), {R"("x":[0,1])", R"("x":[2])"});
  expect(range(3) + step("batch", "batch_size = 2, drop_remainder = true"), {R"("x":[0,1])"});
  expect(range(4) + step("batch", "batch_size = 2") + step("batch", "batch_size = 2"), {R"("x":[[0,1],[2,3]])"});
  expect(range(3) + step("batch", "batch_size = 2") + step("padded_batch", "batch_size = 2"), {R"("x":[[0,1],[2,0]])"});
  const std::string two = range(3) + step("batch", "batch_size = 2");
  expect(range(4) + step("batch", "batch_size = 4") + step("distribute", "world_size = 2, rank = 1"), {R"("x":[2,3])"});
  expect(range(4) + step("batch", "batch_size = 4") + step("distribute", "world_size = 2, rank = 1, cost_field = 'x'") +
             step("with_options", "threads = 0"),
         {R"("x":[1,2])"});
  expect(range(3) + step("batch", "batch_size = 4") +
             step("distribute", "world_size = 2, rank = 1, uneven = 'pad', mask_key = 'valid'"),
         {R"("x":[2,2],"valid":[true,false])"});
  EXPECT_THAT(refused(range(4) + step("with_options", "threads = 3000000000")),
              HasSubstr("threads is 3000000000: out"));
  EXPECT_THAT(refused(range(4) + step("batch", "batch_size = 4") +
                      step("distribute", "world_size = 2, rank = 1, uneven = 'cut'")),
              HasSubstr("uneven is 'cut'"));
  expect(two + step("padded_batch", "batch_size = 2, padded_shapes = [3], padding_values = -1"),
         {R"("x":[[0,1,-1],[2,-1,-1]])"});
  expect(two + step("padded_batch", "batch_size = 2, padded_shapes = { x = [-1] }, padding_values = { x = 9 }"),
         {R"("x":[[0,1],[2,9]])"});
  expect(two + step("enumerate") +
             step("padded_batch", "batch_size = 2, padded_shapes = { x = [3] }, padding_values = { x = 9 }"),
         {R"("index":[0,1],"x":[[0,1,9],[2,9,9]])"});
}

TEST(PlanOperators, NumbersHaveTheDTypeThatIsAsked) {
  expect(step("range", "start = 254, stop = 257, output_type = 'uint8'"), {R"("x":254)", R"("x":255)", R"("x":0)"});
  expect(step("counter", "step = 2, dtype = 'float32'") + step("map", "function = 'x / 4'") + step("take", "count = 2"),
         {R"("x":0)", R"("x":0.5)"});
  EXPECT_THAT(refused(step("range", "stop = 3, output_type = 'bytes'")), HasSubstr("a dtype of numbers"));
  EXPECT_THAT(refused(step("counter", "dtype = 'int'")), HasSubstr("dtype is 'int'"));
}

TEST(PlanOperators, PadToACardinality) {
  expect(range(1) + step("pad_to_cardinality", "cardinality = 2"), {R"("x":0,"valid":true)", R"("x":0,"valid":false)"});
  expect(range(1) + step("pad_to_cardinality", "cardinality = 1, mask_key = 'real'"), {R"("x":0,"real":true)"});
  EXPECT_THAT(refused(range(3) + step("pad_to_cardinality", "cardinality = 2")), HasSubstr("the input has 3 elements"));
}

TEST(PlanOperators, PaddingIsRefusedByField) {
  const std::string two = range(3) + step("batch", "batch_size = 2") + step("enumerate");
  EXPECT_THAT(
      refused(two + step("padded_batch", "batch_size = 2, padded_shapes = [3]")),
      HasSubstr("f.toml:11: padded_batch: padded_shapes must be a table by field: {'index': int64[], 'x': int64[?]}"));
  EXPECT_THAT(refused(two + step("padded_batch", "batch_size = 2, padded_shapes = { y = [3] }")),
              HasSubstr("field 'y'"));
  EXPECT_THAT(refused(two + step("padded_batch", "batch_size = 2, padded_shapes = { x = [-2] }")),
              HasSubstr("has a dimension -2"));
  EXPECT_THAT(refused(two + step("padded_batch", "batch_size = 2, padding_values = { x = 0.5 }")),
              HasSubstr("0.5 is not a padding value"));
  EXPECT_THAT(refused(two + step("padded_batch", "batch_size = 2, padded_shapes = { x = 3 }")),
              HasSubstr("must be a list of dimensions"));
}

TEST(PlanOperators, Joins) {
  const std::string a = step("range", "stop = 2", "chain.a"), b = step("range", "start = 5, stop = 9", "chain.b");
  expect(join("zip", "'a', 'b'") + a + b, {R"("a":0,"b":5)", R"("a":1,"b":6)"});
  expect(join("zip", "'b', 'a'") + a + b + step("enumerate", "", "chain.a"),
         {R"("b":5,"a.index":0,"a.x":0)", R"("b":6,"a.index":1,"a.x":1)"});
  expect(join("zip", "'a'") + a, {R"("a":0)", R"("a":1)"});
  expect(join("concatenate", "'a', 'b'") + a + b,
         {R"("x":0)", R"("x":1)", R"("x":5)", R"("x":6)", R"("x":7)", R"("x":8)"});
  // A field without a name is x, so these two agree.
  expect(join("concatenate", "'a', 'z'") + a + "[[chain.z]]\nop = 'zip'\ninputs = ['x']\n" +
             step("range", "stop = 1", "chain.x"),
         {R"("x":0)", R"("x":1)", R"("x":0)"});
  EXPECT_THAT(refused(join("concatenate", "'a', 'b'") + a + b + step("map", "function = 'x * 1.0'", "chain.b")),
              HasSubstr("f.toml:2: concatenate: "));
}

TEST(PlanOperators, ShufflesKeepAllElements) {
  for (const char* args : {"", "window = 3", "reshuffle_each_iteration = false"}) {
    auto all = delivered("seed = 5\n" + range(20) + step("shuffle", args));
    EXPECT_NE(all, delivered(range(20))) << args;
    EXPECT_EQ(all, delivered("seed = 5\n" + range(20) + step("shuffle", args))) << args;
    EXPECT_NE(all, delivered("seed = 6\n" + range(20) + step("shuffle", args))) << args;
    std::sort(all.begin(), all.end());
    auto plain = delivered(range(20));
    std::sort(plain.begin(), plain.end());
    EXPECT_EQ(all, plain) << args;
  }
  EXPECT_NE(delivered(range(20) + step("shuffle") + "name = 'other'\n"), delivered(range(20) + step("shuffle")));
  for (const char* window : {"0", "-1"}) {
    EXPECT_THAT(refused(range(5) + step("shuffle", std::string("window = ") + window)),
                HasSubstr("f.toml:6: shuffle: window is "));
  }
}

TEST(PlanOperators, RandomFieldsAndNoise) {
  expect(range(2) + step("random_u32", "field = 'r'") + step("map", "function = 'r >= 0 && r < 4294967296'"),
         {R"("x":1)", R"("x":1)"});
  const std::string noise = range(2) + step("map", "function = 'x * 1.5'");
  EXPECT_THAT(refused(noise + step("add_noise", "stddev = 1")), HasSubstr("f.toml:9: add_noise: "));
  const std::string flip = range(2) + step("batch", "batch_size = 2") + step("random_flip", "axis = 0");
  EXPECT_THAT(delivered(flip)[0], testing::AnyOf(R"({"x":[0,1]})", R"({"x":[1,0]})"));
  EXPECT_EQ(delivered(range(2) + step("batch", "batch_size = 2") + step("random_flip", "axis = 0, field = 'x'")),
            delivered(flip));
  EXPECT_THAT(refused(range(2) + step("random_flip", "axis = 999999999999")),
              HasSubstr("f.toml:6: random_flip: axis is 999999999999: no tensor has such an axis"));
  EXPECT_THAT(refused(range(2) + step("random_flip", "axis = 1001")), HasSubstr("no axis 1001"));
  for (const char* stddev : {"-1", "1e39", "inf", "nan"}) {
    EXPECT_THAT(refused(noise + step("add_noise", std::string("stddev = ") + stddev)),
                HasSubstr("f.toml:9: add_noise: stddev is "));
  }
}

TEST(PlanOperators, HugeArgumentsAreRefusedOrCostNothing) {
  expect(range(2) + step("take", "count = 9223372036854775807"), {R"("x":0)", R"("x":1)"});
  expect(range(2) + step("skip", "count = 9223372036854775807"), {});
  expect(range(2) + step("batch", "batch_size = 1000000000000"), {R"("x":[0,1])"});
  expect(range(2) + step("shuffle", "window = 1000000000") + step("take", "count = 0"), {});
  EXPECT_THAT(refused(step("range", "start = -9223372036854775807, stop = 9223372036854775807")),
              HasSubstr("f.toml:3: range: "));
  EXPECT_THAT(refused(range(5) + step("repeat", "count = 9223372036854775807")), HasSubstr("f.toml:6: repeat: "));
}

}  // namespace
}  // namespace headpond::plan

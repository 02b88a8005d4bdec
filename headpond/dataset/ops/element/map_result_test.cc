// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/element/map_result_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

std::string refusal(const Function& function, const MapOptions& options) {
  try {
    (void)map_result_spec("map", function, options);
  } catch (const Exception& e) {
    return e.what();
  }
  return "";
}

TEST(MapResult, OptionsGiveNamesToWhatTheTypeTells) {
  const Function function = make_function([](int64_t x) { return static_cast<float>(x); });
  EXPECT_EQ(to_string(map_result_spec("map", function, {})), "{0: float32[]}");
  EXPECT_EQ(to_string(map_result_spec("map", function, {.output = {{"y", f32, {}}}})), "{'y': float32[]}");
  EXPECT_THAT(refusal(function, {.output = {{"y", i64, {}}}}), HasSubstr(".output says {'y': int64[]}"));
  EXPECT_THAT(refusal(function, {.output = {{"y", f32, {}}, {"z", f32, {}}}}), HasSubstr("2 fields"));
}

TEST(MapResult, ATypeThatTellsNothingNeedsOptions) {
  const Function function = make_function([](const Tensor& x) { return x; });
  EXPECT_THAT(refusal(function, {}), HasSubstr("set MapOptions::output"));
  EXPECT_EQ(to_string(map_result_spec("map", function, {.output = {{"y", u8, {kUnknown}}}})), "{'y': uint8[?]}");
}

TEST(MapResult, FactsHaveTheFunctionsNameAndVersion) {
  const Node::Ref input = range(3).node();
  const Node::Facts opaque = function_facts(input, Role::map, "field=0, ", {}, input->spec());
  EXPECT_EQ(opaque.op, "map");
  EXPECT_EQ(opaque.args, "field=0, opaque");
  EXPECT_TRUE(opaque.opaque);
  const MapOptions options = {.name = "crop", .version = 3, .blocking = true};
  const Node::Facts named = function_facts(input, Role::filter, "", options, input->spec());
  EXPECT_EQ(named.op, "filter");
  EXPECT_EQ(named.args, "crop, version=3");
  EXPECT_EQ(named.role, Role::filter);
  EXPECT_TRUE(named.blocking);
  EXPECT_FALSE(named.opaque);
}

}  // namespace
}  // namespace headpond::internal

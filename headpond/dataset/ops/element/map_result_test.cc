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
  EXPECT_THAT(refusal(function, {}), HasSubstr("set .output"));
  EXPECT_EQ(to_string(map_result_spec("map", function, {.output = {{"y", u8, {kUnknown}}}})), "{'y': uint8[?]}");
}

TEST(MapResult, TheLabelTellsNameAndVersion) {
  EXPECT_EQ(map_label({}), "opaque");
  EXPECT_EQ(map_label({.name = "crop", .version = 3}), "crop, version=3");
}

}  // namespace
}  // namespace headpond::internal

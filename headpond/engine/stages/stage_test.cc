// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/engine/explain.h"
#include "headpond/engine/stages/stage_internal.h"

namespace headpond::internal {
namespace {

int64_t same(int64_t x) { return x; }
bool any(int64_t) { return true; }

std::string stage(const Dataset& dataset) {
  const Stage stage = stage_of(*dataset.node());
  const char* const how = stage.mode == ExecutionMode::rows        ? "rows"
                          : stage.mode == ExecutionMode::positions ? "positions"
                          : stage.mode == ExecutionMode::ahead     ? "ahead"
                                                                   : "in order";
  return fmt::format("{} {}{}", how, name_of(stage), stage.blocking ? " waits" : "");
}

const auto cpu = map(&same);
const auto waits = map(&same, {.blocking = true});

TEST(Stage, FollowsFromTheOperatorAndItsInput) {
  const Dataset numbers = range(10);
  const Dataset stream = numbers | as_stream();
  EXPECT_EQ(stage(numbers | cpu | batch(2)), "rows range|map|batch");
  EXPECT_EQ(stage(numbers | cpu | shuffle() | batch(2)), "rows range|map|shuffle|batch");
  EXPECT_EQ(stage(numbers | cpu), "positions range|map");
  EXPECT_EQ(stage(numbers | filter(&any)), "positions range|filter");
  EXPECT_EQ(stage(numbers | filter(&any) | batch(2)), "ahead batch");
  EXPECT_EQ(stage(stream | cpu | batch(2)), "ahead batch");
  EXPECT_EQ(stage(numbers | filter(&any) | take(3)), "in order take");
  EXPECT_EQ(stage(numbers | batch(2) | repeat(2)), "in order repeat");
  EXPECT_EQ(stage(numbers | batch(2) | map([](const Tensor& x) { return x; }, {.output = {{"", DType::i64, {2}}}})),
            "ahead map");
  EXPECT_EQ(stage(stream | unique()), "ahead unique") << "it computes";
  EXPECT_EQ(stage(numbers | take_while(&any)), "ahead take_while");
  EXPECT_EQ(stage(numbers | prefetch()), "positions range|prefetch");
}

TEST(Stage, IsCutAboveWhatWaits) {
  const Dataset numbers = range(10);
  EXPECT_EQ(stage(numbers | waits), "positions range|map waits");
  EXPECT_EQ(stage(numbers | waits | cpu), "ahead map");
  EXPECT_EQ(stage(numbers | waits | batch(2)), "rows range|map|batch waits");
  EXPECT_EQ(stage(numbers | waits | cpu | batch(2)), "ahead batch");
  EXPECT_EQ(stage(numbers | as_stream() | cpu | waits), "ahead map waits") << "the chain below is another stage";
}

TEST(Stage, OfAGeneratorThatWaitsIsCutBelowWhatComputes) {
  const auto none = [](uint64_t) { return [] { return Result<std::optional<Element>>(std::nullopt); }; };
  const Dataset computed = from_generator(none, {{"", DType::i64, {}}});
  const Dataset waited = from_generator(none, {{"", DType::i64, {}}}, {.blocking = true});
  EXPECT_EQ(stage(computed | cpu), "ahead from_generator|map");
  EXPECT_EQ(stage(computed | waits), "ahead from_generator|map waits");
  EXPECT_EQ(stage(waited), "ahead from_generator waits");
  EXPECT_EQ(stage(waited | cpu), "ahead map");
  EXPECT_EQ(stage(waited | waits), "ahead from_generator|map waits");
}

TEST(Stage, OfAnOperatorThatIteratesAndWaitsWaits) {
  EXPECT_EQ(stage(range(10) | take_while(&any, {.blocking = true})), "ahead take_while waits");
  EXPECT_EQ(stage(range(10) | take_while(&any)), "ahead take_while") << "control";
}

TEST(Stage, SizesAreKnownFromTheSpecAlone) {
  EXPECT_EQ(element_bytes({{"", DType::f32, {2, 3}}, {"", DType::u8, {}}}), 25);
  EXPECT_EQ(element_bytes({{"", DType::f32, {kUnknown}}}), -1);
  EXPECT_EQ(element_bytes({{"", DType::bytes, {}}}), -1);
  EXPECT_EQ(element_bytes({{"", DType::f64, {int64_t{1} << 40, int64_t{1} << 22}}}), -1) << "beyond 64 bits";
  EXPECT_EQ(element_bytes(*(range(100) | batch(32)).node()), 32 * 8) << "of a whole batch";
  EXPECT_EQ(element_bytes(*(range(10) | batch(32)).node()), 10 * 8);
  EXPECT_EQ(element_bytes(*(range(10) | batch(3) | batch(2)).node()), -1) << "its rows differ";
}

Dataset rows_of(int64_t width) {
  const std::vector<float> values(static_cast<size_t>(64 * width));
  return from_tensor_slices(Tensor::from(std::span<const float>(values), {64, width}));
}

TEST(Stage, ViewsOfWhatIsInMemoryTakeNothing) {
  EXPECT_EQ(taken_bytes(*(rows_of(25) | shuffle() | repeat() | take(9)).node()), 0);
  EXPECT_EQ(taken_bytes(*(rows_of(25) | batch(2)).node()), 200);
  EXPECT_EQ(taken_bytes(*(rows_of(25) | cache()).node()), 100) << "it may be on a disk";
  EXPECT_EQ(taken_bytes(*(rows_of(2) | shuffle()).node()), 8) << "small rows are copied";
}

}  // namespace
}  // namespace headpond::internal

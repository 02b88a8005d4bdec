// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <numeric>

#include "headpond/dataset/ops/element/values_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

float scaled(uint8_t x) { return static_cast<float>(x) / 4; }
int64_t no_five(int64_t x) {
  if (x == 5) throw std::runtime_error("five");
  return -x;
}

Dataset images(int64_t count) {
  std::vector<uint8_t> pixels(static_cast<size_t>(6 * count));
  std::iota(pixels.begin(), pixels.end(), uint8_t{0});
  std::vector<int64_t> labels(static_cast<size_t>(count));
  std::iota(labels.begin(), labels.end(), 0);
  return from_tensor_slices({{"image", Tensor::from(std::span<const uint8_t>(pixels), {count, 3, 2})},
                             {"label", Tensor::from(std::span<const int64_t>(labels), {count})}});
}

TEST(Values, AreMappedOneByOneAndKeepTheShape) {
  const Dataset both = images(2) | map("image", scaled);
  EXPECT_EQ(to_string(both.spec()), "{'image': float32[3,2], 'label': int64[]}");
  EXPECT_THAT(elements(both, {}, true),
              ElementsAre("[3,2][0 0.25 0.5 0.75 1 1.25], 0 #0", "[3,2][1.5 1.75 2 2.25 2.5 2.75], 1 #1"));
  const std::vector<uint8_t> pixels = {4, 8};
  const Dataset alone = from_tensor_slices(Tensor::from(std::span<const uint8_t>(pixels), {1, 2}));
  EXPECT_THAT(elements(alone | map(scaled)), ElementsAre("[1 2]"));
  EXPECT_EQ(to_string((alone | map(scaled, {.output = {{"x", DType::f32, {2}}}})).spec()), "{'x': float32[2]}");
  EXPECT_THROW((void)(alone | map(scaled, {.output = {{"x", DType::f32, {}}}})), Exception);
}

TEST(Values, OfManyMapsInARowDoNotExhaustTheStack) {
  const auto plus_one = [](int64_t x) { return x + 1; };
  const auto maps = [&](int count) {
    Dataset dataset = range(3);
    for (int i = 0; i < count; ++i) dataset = dataset | map(plus_one, {.name = "plus_one"});
    return dataset;
  };
  EXPECT_TRUE(fills(*maps(10).node()));
  const Dataset many = maps(600);
  EXPECT_FALSE(fills(*many.node()));
  EXPECT_THAT(elements(many), ElementsAre("600", "601", "602"));
  EXPECT_TRUE(fills(*maps(10).node())) << "the count of what is on the stack is as before";
}

TEST(Values, OfAnUnknownNumberAreMappedToo) {
  const auto ones = [](int64_t x) {
    const std::vector<float> twos(static_cast<size_t>(x), 2.0F);
    return Tensor::from(std::span<const float>(twos), {x});
  };
  const Dataset ragged = range(3) | map(ones, {.output = {{"", DType::f32, {kUnknown}}}});
  const Dataset halves = ragged | map([](float x) { return x / 4; });
  EXPECT_EQ(to_string(halves.spec()), "{0: float32[?]}");
  EXPECT_THAT(elements(halves), ElementsAre("[]", "[0.5]", "[0.5 0.5]"));
  EXPECT_THAT(elements(ragged | as_stream() | map([](float x) { return x > 1; })),
              ElementsAre("[]", "[true]", "[true true]"));
  EXPECT_FALSE(fills(*halves.node()));
  check_contract(halves);
}

TEST(Values, NeedTheFunctionsType) {
  EXPECT_THROW((void)(images(2) | map("label", scaled)), Exception);
  EXPECT_THROW((void)(images(2) | map(scaled)), Exception) << "two fields";
  EXPECT_THROW((void)(images(2) | map("image", [](uint8_t x) -> Result<float> { return x; })), Exception);
  EXPECT_THROW((void)(range(1) | batch(1) | filter([](int64_t x) { return x > 0; })), Exception);
}

TEST(Values, ThatFailAreFoundByAskingForTheElement) {
  const Dataset plain = range(9) | map(no_five), rows = range(9) | batch(2) | map(no_five);
  for (const Dataset& dataset : {plain, images(9) | map("label", no_five)}) {
    const auto view = dataset.node()->bind({});
    Context context;
    Element out;
    EXPECT_EQ(view->at(5, context, {}, out), Got::error);
    EXPECT_THAT(context.error.message(), HasSubstr("record 5: five"));
    const std::vector<int64_t> good = {1, 4}, bad = {1, 5};
    std::vector<std::vector<std::byte>> places(2, std::vector<std::byte>(64));
    std::vector<OutputSlot> columns;
    for (const FieldSpec& field : dataset.spec()) columns.push_back({places[columns.size()].data(), &field});
    EXPECT_TRUE(view->fill(good, context, columns, nullptr));
    EXPECT_FALSE(view->fill(bad, context, columns, nullptr));
  }
  EXPECT_THAT(elements(rows), ElementsAre("[0 -1]", "[-2 -3]", HasSubstr("five"), "[-6 -7]", "[-8]"));
}

TEST(Values, AreFilledInBlocksOfAnyNumberOfRows) {
  const Dataset many = images(3000) | map("image", scaled) | map("label", [](int64_t x) { return x % 7 == 0; });
  EXPECT_TRUE(fills(*many.node()));
  EXPECT_EQ(fill_difference(*many.node(), *many.node()->bind({})), "");
  check_contract(images(5) | map("image", scaled));
}

TEST(Values, OfLargeFieldsAreNotCopiedTwice) {
  const auto large = [](int64_t values) {
    return from_tensor_slices(Tensor::empty(DType::u8, {2, values})) | map(scaled);
  };
  EXPECT_TRUE(fills(*large(16384).node()));
  EXPECT_FALSE(fills(*large(16385).node()));
}

TEST(Values, AreWrittenToAnOutputSlot) {
  const Dataset dataset = images(2) | map("image", scaled);
  std::array<float, 6> memory{};
  const std::array<OutputSlot, 2> outputs = {
      OutputSlot{reinterpret_cast<std::byte*>(memory.data()), &dataset.spec()[0]}, OutputSlot()};
  Context context;
  Element out;
  ASSERT_EQ(dataset.node()->bind({})->at(1, context, outputs, out), Got::value);
  EXPECT_EQ(out[size_t{0}].data(), reinterpret_cast<const std::byte*>(memory.data()));
  EXPECT_EQ(memory[1], 1.75F);
}

}  // namespace
}  // namespace headpond::internal

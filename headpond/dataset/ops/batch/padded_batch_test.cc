// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

bool is_even(int64_t x) { return x % 2 == 0; }
Tensor ramp(int64_t x) {
  const std::vector<int32_t> values(static_cast<size_t>(x), static_cast<int32_t>(x));
  return Tensor::from(std::span<const int32_t>(values), {x});
}
Tensor texts(int64_t x) {
  const std::vector<std::string_view> values(static_cast<size_t>(x), "t");
  return Tensor::from(std::span<const std::string_view>(values), {x});
}
Tensor block(int64_t x) {
  const std::vector<uint8_t> values(static_cast<size_t>(x * 2), static_cast<uint8_t>(x));
  return x % 2 == 0 ? Tensor::from(std::span<const uint8_t>(values), {2, x})
                    : Tensor::from(std::span<const uint8_t>(values), {x, 2});
}
Step ramps() { return map(&ramp, {.output = {{"ramp", DType::i32, {kUnknown}}}}); }
Step blocks() { return map(&block, {.output = {{"", DType::u8, {kUnknown, kUnknown}}}}); }
Step words() { return map(&texts, {.output = {{"", DType::bytes, {kUnknown}}}}); }

struct Case {
  Dataset dataset;
  std::vector<std::string> expected;
};

TEST(PaddedBatch, PadsToTheLongestOrToWhatIsSaid) {
  const std::vector<Case> cases = {
      {range(4) | ramps() | padded_batch(2), {"[2,1][0 1]", "[2,3][2 2 0 3 3 3]"}},
      {range(3) | ramps() | padded_batch(2), {"[2,1][0 1]", "[1,2][2 2]"}},
      {range(3) | ramps() | padded_batch(2, {.drop_remainder = true}), {"[2,1][0 1]"}},
      {range(4) | ramps() | padded_batch(4, {.padded_shapes = {{"ramp", {3}}}}), {"[4,3][0 0 0 1 0 0 2 2 0 3 3 3]"}},
      {range(2) | ramps() | padded_batch(2, {.padded_shapes = {{"ramp", {2}}}, .padding_values = {{"ramp", -1}}}),
       {"[2,2][-1 -1 1 -1]"}},
      {range(3) | ramps() | padded_batch(3, {.padded_shapes = {{"ramp", {kUnknown}}}, .padding_values = {{"ramp", 9}}}),
       {"[3,2][9 9 1 9 2 2]"}},
      {range(1, 3) | blocks() | padded_batch(2), {"[2,2,2][1 1 0 0 2 2 2 2]"}},
      {range(1, 3) | blocks() | padded_batch(2, {.padded_shapes = {{"0", {kUnknown, 3}}}}),
       {"[2,2,3][1 1 0 0 0 0 2 2 0 2 2 0]"}},
      {range(3) | words() | padded_batch(3), {"[3,2]['' '' 't' '' 't' 't']"}},
      {range(3) | words() | padded_batch(3, {.padding_values = {{"0", "<pad>"}}}),
       {"[3,2]['<pad>' '<pad>' 't' '<pad>' 't' 't']"}},
      {range(1) | ramps() | padded_batch(2), {"[1,0][]"}},
      {range(3) | padded_batch(2), {"[0 1]", "[2]"}},
      {range(0) | padded_batch(2), {}},
      {range(3) | padded_batch(INT64_MAX), {"[0 1 2]"}},
      {range(5) | filter(&is_even) | ramps() | padded_batch(2), {"[2,2][0 0 2 2]", "[1,4][4 4 4 4]"}},
      {range(3) | as_stream() | ramps() | padded_batch(2), {"[2,1][0 1]", "[1,2][2 2]"}},
      {range(4) | ramps() | padded_batch(2) | padded_batch(2), {"[2,2,3][0 0 0 1 0 0 2 2 0 3 3 3]"}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(elements(c.dataset), c.expected) << c.dataset.plan();
    check_contract(c.dataset);
  }
}

TEST(PaddedBatch, KnowsItsSpec) {
  const auto spec = [](const Dataset& dataset) { return to_string(dataset.spec()); };
  EXPECT_EQ(spec(range(4) | ramps() | padded_batch(2, {.drop_remainder = true})), "{'ramp': int32[2,?]}");
  EXPECT_EQ(spec(range(3) | ramps() | padded_batch(2, {.padded_shapes = {{"ramp", {7}}}})), "{'ramp': int32[?,7]}");
  EXPECT_EQ((range(3) | ramps() | padded_batch(2)).cardinality(), 2);
  EXPECT_EQ((range(3) | ramps() | padded_batch(2)).plan(),
            "range(start=0, stop=3, step=1)\nmap(opaque)\n"
            "padded_batch(batch_size=2, drop_remainder=false, ramp=[?] pad 0)\n");
}

TEST(PaddedBatch, GivesAnErrorForWhatIsTooLongAndGoesOn) {
  const auto all = elements(range(5) | ramps() | padded_batch(2, {.padded_shapes = {{"ramp", {3}}}}));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0], "[2,3][0 0 0 1 0 0]");
  EXPECT_EQ(all[1], "[2,3][2 2 0 3 3 3]");
  EXPECT_THAT(all[2], HasSubstr("!DataLoss: padded_batch("));
  EXPECT_THAT(all[2],
              HasSubstr("range, record 4: field 'ramp' of element 0 of the batch has shape [4], longer than the padded "
                        "shape [3]"));
}

TEST(PaddedBatch, OfOtherTextsIsAnotherPlan) {
  const auto dataset = [](const std::string& text) {
    return range(4) | words() | padded_batch(2, {.padding_values = {{"0", text}}});
  };
  Sequence sequence(dataset("a"));
  (void)sequence.next();
  EXPECT_TRUE(Sequence::restored(dataset("a"), {}, sequence.state()));
  EXPECT_FALSE(Sequence::restored(dataset("b"), {}, sequence.state()));
}

TEST(PaddedBatch, RefusesAtOnceWhatIsWrong) {
  EXPECT_THROW(range(3) | padded_batch(0), Exception);
  EXPECT_THROW(range(3) | padded_batch(2, {.padding_values = {{"0", 0.5}}}), Exception);
  EXPECT_THROW(range(3) | padded_batch(2, {.padded_shapes = {{"0", {4}}}}), Exception);
  EXPECT_NO_THROW(range(3) | padded_batch(2, {.padded_shapes = {{"0", {}}}, .padding_values = {{"0", 1}}}));
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr BatchOptions kDrop = {.drop_remainder = true};

bool is_even(int64_t x) { return x % 2 == 0; }
int64_t next_of(int64_t x) { return x + 1; }
Tensor ramp(int64_t x) {
  const std::vector<int32_t> values(static_cast<size_t>(x), static_cast<int32_t>(x));
  return Tensor::from(std::span<const int32_t>(values), {x});
}
const MapOptions kRamp = {.output = {{"ramp", DType::i32, {kUnknown}}}};

Dataset words() {
  const std::vector<std::string_view> texts = {"a", "", "ccc", "dd", "e"};
  return from_tensor_slices({{"word", Tensor::from(std::span<const std::string_view>(texts), {5})}});
}

Dataset rows_of(int64_t rows, int64_t width) {
  std::vector<float> values(static_cast<size_t>(rows * width));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return from_tensor_slices(Tensor::from(std::span<const float>(values), {rows, width}));
}

struct Case {
  Dataset dataset;
  std::vector<std::string> expected;
};

TEST(Batch, GivesTheRowsOfEachBatch) {
  const std::vector<Case> cases = {
      {range(6) | batch(3), {"[0 1 2]", "[3 4 5]"}},
      {range(5) | batch(2), {"[0 1]", "[2 3]", "[4]"}},
      {range(5) | batch(2, kDrop), {"[0 1]", "[2 3]"}},
      {range(3) | batch(1), {"[0]", "[1]", "[2]"}},
      {range(2) | batch(5), {"[0 1]"}},
      {range(2) | batch(5, kDrop), {}},
      {range(0) | batch(5), {}},
      {range(9) | filter(&is_even) | batch(2), {"[0 2]", "[4 6]", "[8]"}},
      {range(9) | filter(&is_even) | batch(2, kDrop), {"[0 2]", "[4 6]"}},
      {range(9) | filter(&is_even) | batch(9), {"[0 2 4 6 8]"}},
      {range(6) | batch(2) | batch(2), {"[2,2][0 1 2 3]", "[1,2][4 5]"}},
      {words() | batch(2), {"['a' '']", "['ccc' 'dd']", "['e']"}},
      {words() | batch(2) | batch(2, kDrop), {"[2,2]['a' '' 'ccc' 'dd']"}},
      {rows_of(3, 2) | batch(2), {"[2,2][0 1 2 3]", "[1,2][4 5]"}},
      {rows_of(3, 0) | batch(2), {"[2,0][]", "[1,0][]"}},
      {range(3) | map(&ramp, kRamp) | batch(1), {"[1,0][]", "[1,1][1]", "[1,2][2 2]"}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(elements(c.dataset), c.expected) << c.dataset.plan();
    check_contract(c.dataset);
  }
}

TEST(Batch, GivesTheSameOverAStream) {
  const std::vector<Case> cases = {
      {range(5) | as_stream() | batch(2), {"[0 1]", "[2 3]", "[4]"}},
      {range(5) | as_stream() | batch(2, kDrop), {"[0 1]", "[2 3]"}},
      {range(0) | as_stream() | batch(2), {}},
      {words() | as_stream() | batch(2) | batch(1), {"[1,2]['a' '']", "[1,2]['ccc' 'dd']", "[1,1]['e']"}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(c.dataset.kind(), Kind::stream);
    EXPECT_EQ(elements(c.dataset), c.expected) << c.dataset.plan();
    check_contract(c.dataset);
  }
  EXPECT_EQ(elements(range(5) | batch(2), {}, true), elements(range(5) | as_stream() | batch(2), {}, true));
}

TEST(Batch, KnowsItsSpecAndCardinality) {
  const auto spec = [](const Dataset& dataset) { return to_string(dataset.spec()); };
  EXPECT_EQ(spec(range(6) | batch(3)), "{0: int64[?]}") << "an element that fails leaves the last batch smaller";
  EXPECT_EQ(spec(range(5) | batch(3)), "{0: int64[?]}");
  EXPECT_EQ(spec(range(5) | batch(3, kDrop)), "{0: int64[3]}");
  EXPECT_EQ(spec(range(6) | filter(&is_even) | batch(3)), "{0: int64[?]}");
  EXPECT_EQ(spec(words() | batch(5, kDrop)), "{'word': bytes[5]}");
  EXPECT_EQ((range(7) | batch(3)).cardinality(), 3);
  EXPECT_EQ((range(7) | batch(3, kDrop)).cardinality(), 2);
  EXPECT_EQ((range(7) | filter(&is_even) | batch(3)).cardinality(), std::nullopt);
  EXPECT_EQ((range(7) | batch(3)).plan(),
            "range(start=0, stop=7, step=1)\nbatch(batch_size=3, drop_remainder=false)\n");
}

TEST(Batch, TakesAnySizeFromOneOn) {
  EXPECT_THAT(elements(range(3) | batch(INT64_MAX)), ElementsAre("[0 1 2]"));
  EXPECT_THAT(elements(range(3) | as_stream() | batch(INT64_MAX)), ElementsAre("[0 1 2]"));
  EXPECT_THAT(elements(range(3) | batch(INT64_MAX, kDrop)), IsEmpty());
  check_contract(range(3) | batch(INT64_MAX));
  EXPECT_THROW(range(3) | batch(0), Exception);
  EXPECT_THROW(range(3) | batch(-1), Exception);
}

TEST(Batch, HasItsNumberAsKey) {
  const auto all = elements(range(5) | batch(2), {}, true);
  for (size_t k = 0; k < all.size(); ++k) {
    EXPECT_THAT(all[k], HasSubstr(fmt::format("#{:x}", mix(0x6261746368, k))));
  }
}

TEST(Batch, RefusesOtherShapesAndGoesOnWithoutThem) {
  const Dataset ones = range(4) | map([](int64_t x) { return x == 2 ? ramp(3) : ramp(1); }, kRamp);
  for (const Dataset& dataset : {ones | batch(3), ones | as_stream() | batch(3)}) {
    const auto all = elements(dataset);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_THAT(all[0], HasSubstr("range, record 2: Cannot batch tensors with different shapes in component 0. First "
                                  "element had shape [1] and element 2 had shape [3] (range, record 0 and "
                                  "range, record 2); padded_batch pads rows to one shape"));
    EXPECT_EQ(all[1], "[3,1][1 1 1]");
  }
  const auto shuffled = elements(ones | skip(3) | concatenate(ones | skip(2)) | batch(3));
  EXPECT_THAT(shuffled[0], HasSubstr("and element 1 had shape [3] (range, record 3 and range, "
                                     "record 2)"))
      << "the numbers of the rows, and which elements they are";
  Context context;
  Element out;
  const Dataset dataset = ones | batch(3);
  EXPECT_EQ(dataset.node()->bind({})->at(0, context, {}, out), Got::error);
  EXPECT_EQ(out.size(), 0U);
  EXPECT_THAT(context.error.message(), HasSubstr("element 2 had shape [3]"));
}

// What a view was asked, and whether it wrote to the output that it was given.
class Writes final : public Node {
 public:
  Writes() : Node({.op = "writes", .spec = {{"", DType::u8, {32}}}, .slots = 5}) {}
  std::shared_ptr<const View> bind(const Binding&) const override {
    class Writing final : public View {
      Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
        std::byte* const to = context.allocate_output(out, outputs, DType::u8, {32});
        EXPECT_EQ(outputs.size(), 1U);
        EXPECT_EQ(to, outputs[0].data);
        std::memset(to, static_cast<int>(i), 32);
        return Got::value;
      }
    };
    return std::make_shared<Writing>();
  }
};

TEST(Batch, LetsItsInputWriteRowsInPlace) {
  const Dataset dataset = Dataset(std::make_shared<Writes>()) | batch(2) | batch(2);
  const auto view = dataset.node()->bind({});
  Context context;
  Element out;
  ASSERT_EQ(view->at(0, context, {}, out), Got::value);
  for (size_t i = 0; i < 128; ++i) ASSERT_EQ(out[size_t{0}].as<uint8_t>()[i], i / 32);
}

TEST(Batch, GoesOnWithMap) {
  const auto fails_at_1 = [](int64_t x) -> Result<int64_t> {
    if (x == 1) return fail(ErrorKind::DataLoss, "bad");
    return x;
  };
  const auto sum = [](std::span<const int64_t> xs) {
    int64_t all = 0;
    for (const int64_t x : xs) all += x;
    return all;
  };
  // What stands 1:1 above a batch iterates it too, so that no neighbour is lost.
  const auto all = elements(range(5) | map(&next_of) | map(fails_at_1) | batch(2) | map(sum) | take(9));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[0], HasSubstr("bad"));
  EXPECT_EQ(all[1], "5");
  EXPECT_EQ(all[2], "9");
}

}  // namespace
}  // namespace headpond::internal

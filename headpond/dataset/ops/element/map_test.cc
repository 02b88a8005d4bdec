// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

int64_t twice(int64_t x) { return 2 * x; }

Dataset pairs() {
  const std::vector<int64_t> a = {1, 2, 3, 4}, b = {7, 8};
  return from_tensor_slices({{"a", Tensor::from(std::span<const int64_t>(a), {2, 2})},
                             {"b", Tensor::from(std::span<const int64_t>(b), {2})}});
}

TEST(Map, GivesWhatTheFunctionGives) {
  EXPECT_THAT(elements(range(3) | map(&twice), {}, true), ElementsAre("0 #0", "2 #1", "4 #2"));
  const auto sum = [](std::span<const int64_t> a, int64_t b) { return std::tuple(a[0] + a[1], b, 0.5); };
  EXPECT_THAT(elements(pairs() | map(sum)), ElementsAre("3, 7, 0.5", "7, 8, 0.5"));
  EXPECT_EQ(to_string((pairs() | map(sum)).spec()), "{0: int64[], 1: int64[], 2: float64[]}");
}

TEST(Map, KeepsKindAndSlots) {
  EXPECT_EQ((range(3) | map(&twice)).cardinality(), 3);
  EXPECT_EQ((range(3) | as_stream() | map(&twice)).kind(), Kind::stream);
  const auto all = [](int64_t) { return true; };
  EXPECT_EQ((range(3) | filter(all) | map(&twice)).kind(), Kind::sparse);
}

TEST(Map, OfOneFieldLeavesTheOthers) {
  EXPECT_THAT(elements(pairs() | map("b", &twice)), ElementsAre("[1 2], 14", "[3 4], 16"));
  const auto length = [](const Tensor& x) { return static_cast<float>(x.size()) / 4; };
  EXPECT_THAT(elements(pairs() | map("a", length)), ElementsAre("0.5, 7", "0.5, 8"));
  EXPECT_EQ(to_string((pairs() | map("a", length)).spec()), "{'a': float32[], 'b': int64[]}");
  EXPECT_THAT([] { pairs() | map("c", &twice); }, ThrowsMessage<Exception>(HasSubstr("no field 'c'")));
  const auto half = [](float x) { return x / 2; };
  EXPECT_THAT([&] { pairs() | map("a", half); }, ThrowsMessage<Exception>(HasSubstr("argument 0")));
  const auto two = [](int64_t x) { return std::tuple(x, x); };
  EXPECT_THAT([&] { pairs() | map("b", two); }, ThrowsMessage<Exception>(HasSubstr("must give one field")));
}

TEST(Map, TakesNamesFromItsOptions) {
  const Dataset dataset = range(2) | map(&twice, {.output = {{"double", DType::i64, {}}}});
  EXPECT_EQ(to_string(dataset.spec()), "{'double': int64[]}");
  Sequence sequence(dataset);
  EXPECT_EQ(text_of((*sequence.next())["double"]), "0");
  EXPECT_THAT(
      [] {
        range(2) | map(&twice, {.output = {{"x", DType::i32, {}}}});
      },
      ThrowsMessage<Exception>(HasSubstr("map: .output says {'x': int32[]}, the function gives {0: int64[]}")));
  EXPECT_THAT(
      [] {
        range(2) | map(&twice, {.output = {{"x", DType::i64, {}}, {"y", DType::i64, {}}}});
      },
      ThrowsMessage<Exception>(HasSubstr(".output has 2 fields, the function gives 1")));
}

TEST(Map, ChecksResultsThatTheTypeDoesNotTell) {
  const auto ones = [](int64_t x) {
    return Tensor::from(std::span<const int64_t>(std::vector<int64_t>(static_cast<size_t>(x), 1)), {x});
  };
  EXPECT_THAT([&] { range(3) | map(ones); }, ThrowsMessage<Exception>(HasSubstr("set MapOptions::output")));
  EXPECT_THAT(elements(range(3) | map(ones, {.output = {{"", DType::i64, {kUnknown}}}})),
              ElementsAre("[]", "[1]", "[1 1]"));
  const auto fixed = elements(range(3) | map(ones, {.output = {{"", DType::i64, {1}}}}));
  ASSERT_EQ(fixed.size(), 3U);
  EXPECT_THAT(fixed[0], HasSubstr("range, record 0: expected {0: int64[1]}, found {0: int64[0]}"));
  EXPECT_EQ(fixed[1], "[1]");
  const auto none = [](int64_t) { return Element(); };
  EXPECT_THAT(elements(range(1) | map(none, {.output = {{"", DType::i64, {}}}})),
              ElementsAre(HasSubstr("range, record 0: expected {0: int64[]}, found {}")));
}

TEST(Map, RefusesTheStateOfAnotherVersion) {
  Sequence sequence(range(3) | map(&twice, {.name = "twice"}));
  ASSERT_TRUE(sequence.next());
  EXPECT_TRUE(Sequence::restored(range(3) | map(&twice, {.name = "twice"}), {}, sequence.state()));
  EXPECT_FALSE(Sequence::restored(range(3) | map(&twice, {.name = "twice", .version = 1}), {}, sequence.state()));
  EXPECT_FALSE(Sequence::restored(range(3) | map(&twice), {}, sequence.state()));
}

TEST(Map, KeepsTheContract) {
  check_contract(range(5) | map(&twice));
  check_contract(range(5) | as_stream() | map(&twice));
  check_contract(pairs() | map("b", &twice) | filter([](const Element& e) { return e.size() == 2; }) |
                 map("b", &twice));
}

}  // namespace
}  // namespace headpond::internal

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "headpond/io/example/example_test_internal.h"

namespace headpond {
namespace {

using test::as_message;
using test::entry;
using test::example;
using test::floats;
using test::ints;
using test::parse_error;
using test::strings;
using test::texts;
using test::values;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using enum FeatureKind;

// TensorFlow's SparseFeature(index_key="i", value_key="v", dtype, size).
ExampleFeature vector_of(DType dtype, int64_t size) {
  return {.key = "s", .dtype = dtype, .shape = {size}, .kind = Sparse, .index_keys = {"i"}, .value_key = "v"};
}
ExampleFeature matrix() {
  return {.key = "s", .shape = {3, 4}, .kind = Sparse, .index_keys = {"row", "column"}, .value_key = "v"};
}

std::vector<Tensor> parsed(const ExampleFeature& feature, const std::string& entries) {
  const auto fields = ExampleParser({feature}).parse(as_message(example(entries)));
  EXPECT_TRUE(fields) << fields.error();
  return fields ? *fields : std::vector<Tensor>(3);
}
std::string error(const ExampleFeature& feature, const std::string& entries) {
  const Error error = parse_error(ExampleParser({feature}), example(entries));
  if (error) {
    EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
  }
  return error.message();
}

TEST(Sparse, GivesIndicesValuesAndShape) {
  const ExampleParser parser({vector_of(f32, 100), {.key = "n", .dtype = i64}});
  EXPECT_EQ(test::fields_of(parser.fields()), "s.indices int64[?,1], s.values float32[?], s.shape int64[1], n int64[]");
  EXPECT_EQ(parser.describe(), "'s': Sparse float32[100] index_key='i' value_key='v', 'n': int64[]");
  const std::string message =
      example(entry("v", floats({0.5F, 1.5F})) + entry("n", ints({7})) + entry("i", ints({3, 20})));
  const auto fields = parser.parse(as_message(message)).value();
  EXPECT_TRUE(fields[0].has_shape({2, 1}));
  EXPECT_THAT(values<int64_t>(fields[0]), ElementsAre(3, 20));
  EXPECT_THAT(values<float>(fields[1]), ElementsAre(0.5F, 1.5F));
  EXPECT_THAT(values<int64_t>(fields[2]), ElementsAre(100));
  EXPECT_THAT(values<int64_t>(fields[3]), ElementsAre(7));
}

TEST(Sparse, SortsByPositionUnlessItIsSorted) {
  const std::string entries = entry("i", ints({9, 2, 5})) + entry("v", strings({"nine", "", "five"}));
  const auto sorted = parsed(vector_of(bytes, 10), entries);
  EXPECT_THAT(values<int64_t>(sorted[0]), ElementsAre(2, 5, 9));
  EXPECT_THAT(texts(sorted[1]), ElementsAre("", "five", "nine"));
  ExampleFeature trusted = vector_of(bytes, 10);
  trusted.already_sorted = true;
  const auto as_it_is = parsed(trusted, entries);
  EXPECT_THAT(values<int64_t>(as_it_is[0]), ElementsAre(9, 2, 5));
  EXPECT_THAT(texts(as_it_is[1]), ElementsAre("nine", "", "five"));
}

TEST(Sparse, HasAPositionInEachDimensionAndKeepsTheOrderOfEqualOnes) {
  const auto fields = parsed(matrix(), entry("row", ints({2, 0, 2, 0})) + entry("column", ints({1, 3, 0, 3})) +
                                           entry("v", floats({1, 2, 3, 4})));
  EXPECT_TRUE(fields[0].has_shape({4, 2}));
  EXPECT_THAT(values<int64_t>(fields[0]), ElementsAre(0, 3, 0, 3, 2, 0, 2, 1));
  EXPECT_THAT(values<float>(fields[1]), ElementsAre(2, 4, 3, 1));
  EXPECT_THAT(values<int64_t>(fields[2]), ElementsAre(3, 4));
}

TEST(Sparse, MayBeMissingOrEmpty) {
  for (const std::string& entries : {std::string(), entry("i", ints({})) + entry("v", floats({})), entry("v", "")}) {
    const auto fields = parsed(vector_of(f32, 5), entries);
    EXPECT_TRUE(fields[0].has_shape({0, 1}));
    EXPECT_THAT(values<float>(fields[1]), IsEmpty());
    EXPECT_THAT(values<int64_t>(fields[2]), ElementsAre(5));
  }
  EXPECT_TRUE(parsed(matrix(), "")[0].has_shape({0, 2}));
}

TEST(Sparse, TakesItsValuesFromItsOwnKeyUnlessAnotherIsNamed) {
  const ExampleFeature own = {.key = "s", .dtype = i64, .shape = {9}, .kind = Sparse, .index_keys = {"s"}};
  const auto fields = parsed(own, entry("s", ints({4, 1})));
  EXPECT_THAT(values<int64_t>(fields[0]), ElementsAre(1, 4));
  EXPECT_THAT(values<int64_t>(fields[1]), ElementsAre(1, 4));
}

TEST(Sparse, SharesListsWithOtherFeatures) {
  ExampleFeature second = vector_of(f32, 50);
  second.key = "t";
  const ExampleParser parser(
      {{.key = "v", .kind = VarLen}, vector_of(f32, 9), second, {.key = "i", .dtype = i64, .kind = VarLen}});
  const auto fields = parser.parse(as_message(example(entry("i", ints({8, 1})) + entry("v", floats({1, 2}))))).value();
  EXPECT_THAT(values<float>(fields[0]), ElementsAre(1, 2));
  EXPECT_THAT(values<float>(fields[2]), ElementsAre(2, 1));
  EXPECT_THAT(values<float>(fields[5]), ElementsAre(2, 1));
  EXPECT_THAT(values<int64_t>(fields[7]), ElementsAre(8, 1));
}

TEST(Sparse, WritesItsShapeToATarget) {
  const ExampleParser parser({vector_of(f32, 6)});
  int64_t size = 0;
  const std::array<std::byte*, 3> targets = {nullptr, nullptr, reinterpret_cast<std::byte*>(&size)};
  std::array<Tensor, 3> out;
  ASSERT_TRUE(parser.parse({}, targets, out));
  EXPECT_EQ(size, 6);
}

TEST(Sparse, NamesPositionsThatDoNotFit) {
  const std::string two = entry("v", floats({1, 2}));
  EXPECT_EQ(error(vector_of(f32, 5), two + entry("i", ints({1, 5}))),
            "Example, feature 'i': index 5 of value 1 is outside of [5], as positions of the Sparse feature 's'");
  EXPECT_THAT(error(vector_of(f32, 5), two + entry("i", ints({-1, 2}))), HasSubstr("index -1 of value 0"));
  EXPECT_THAT(error(matrix(), two + entry("row", ints({0, 2})) + entry("column", ints({0, 4}))),
              HasSubstr("feature 'column': index 4 of value 1 is outside of [3,4]"));
  EXPECT_EQ(error(vector_of(f32, 5), two + entry("i", ints({1}))),
            "Example, feature 'i': 2 indices of int64 expected, as many as there are values, 1 of int64 found, as "
            "positions of the Sparse feature 's'");
  EXPECT_THAT(error(vector_of(f32, 5), two), HasSubstr("0 of int64 found"));
  EXPECT_THAT(error(vector_of(f32, 5), entry("i", ints({1}))), HasSubstr("0 indices of int64 expected"));
  EXPECT_THAT(error(vector_of(f32, 5), two + entry("i", floats({1, 2}))), HasSubstr("2 of float32 found"));
  EXPECT_THAT(error(vector_of(i64, 5), two + entry("i", ints({1, 2}))),
              HasSubstr("values of int64 expected, 2 of float32"));
  EXPECT_THAT(error(vector_of(f32, 5), two + entry("i", "\x1a\x03\x0a\x01\x80")), HasSubstr("feature 'i': a varint"));
}

TEST(Sparse, GivesAValueOrAnErrorForEveryCutAndFlippedBit) {
  const ExampleParser parser({matrix()});
  const std::string message =
      example(entry("row", ints({2, 0, 1})) + entry("column", ints({1, 3, 0})) + entry("v", floats({1, 2, 3})));
  for (size_t cut = 0; cut < message.size(); ++cut) (void)parse_error(parser, message.substr(0, cut));
  for (size_t bit = 0; bit < 8 * message.size(); ++bit) {
    std::vector<char> exact(message.begin(), message.end());
    exact[bit / 8] = static_cast<char>(exact[bit / 8] ^ 1 << bit % 8);
    const Error error = parse_error(parser, {exact.data(), exact.size()});
    if (error) {
      EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument) << bit;
    }
  }
}

std::string refusal(std::vector<ExampleFeature> features) {
  try {
    const ExampleParser parser(std::move(features));
  } catch (const Exception& error) {
    return error.error().message();
  }
  return "";
}

TEST(Sparse, RefusesWhatContradictsItself) {
  ExampleFeature wrong = vector_of(f32, 5);
  wrong.index_keys = {};
  EXPECT_THAT(refusal({wrong}), HasSubstr("needs index_keys, one for each dimension of its shape; 0 for [5]"));
  wrong.index_keys = {"i", "j"};
  EXPECT_THAT(refusal({wrong}), HasSubstr("2 for [5]"));
  EXPECT_THAT(refusal({vector_of(u8, 5)}), HasSubstr("uint8 needs FixedLen"));
  EXPECT_THAT(refusal({vector_of(f32, kUnknown)}), HasSubstr("must be fully known"));
  EXPECT_THAT(refusal({{.key = "a", .index_keys = {"i"}}}), HasSubstr("apply only to Sparse"));
  EXPECT_THAT(refusal({{.key = "a", .kind = VarLen, .already_sorted = true}}), HasSubstr("apply only to Sparse"));
  EXPECT_THAT(refusal({vector_of(f32, 5), {.key = "i", .kind = VarLen}}),
              HasSubstr("feature 's': index_keys 'i', which is requested as float32; indices are int64"));
  EXPECT_THAT(refusal({vector_of(f32, 5), {.key = "v", .dtype = i64, .kind = VarLen}}),
              HasSubstr("key 'v' is requested as float32 and as int64"));
  EXPECT_THAT(refusal({vector_of(f32, 5), {.key = "s.values"}}), HasSubstr("two fields of this name"));
  ExampleFeature huge = vector_of(f32, INT64_MAX);
  EXPECT_EQ(refusal({huge}), "") << "nobody makes it dense";
}

}  // namespace
}  // namespace headpond

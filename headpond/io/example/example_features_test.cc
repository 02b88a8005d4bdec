// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

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
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using enum FeatureKind;

std::vector<Tensor> parse(const ExampleParser& parser, std::string_view message) {
  auto result = parser.parse(as_message(message));
  EXPECT_TRUE(result) << result.error();
  return result ? std::move(*result) : std::vector<Tensor>(parser.fields().size());
}

TEST(FixedLen, GivesEachDtypeInItsShape) {
  const ExampleParser parser({{.key = "f", .shape = {2, 1}},
                              {.key = "i", .dtype = i64},
                              {.key = "s", .dtype = bytes, .shape = {2}},
                              {.key = "raw", .dtype = u8, .shape = {2, 2}},
                              {.key = "none", .shape = {0, 3}}});
  const auto got = parse(parser, example(entry("f", floats({1, 2})) + entry("i", ints({-7})) + entry("other", "") +
                                         entry("s", strings({"ab", ""})) + entry("raw", strings({"\1\2\3\4"})) +
                                         entry("none", floats({}))));
  EXPECT_THAT(values<float>(got[0]), ElementsAre(1, 2));
  EXPECT_EQ(got[0].shape(), (Shape{2, 1}));
  EXPECT_EQ(got[1].as<int64_t>()[0], -7);
  EXPECT_EQ(got[1].rank(), 0);
  EXPECT_THAT(texts(got[2]), ElementsAre("ab", ""));
  EXPECT_EQ(got[3].shape(), (Shape{2, 2}));
  EXPECT_THAT(values<uint8_t>(got[3]), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(got[4].shape(), (Shape{0, 3}));
}

TEST(FixedLen, TakesTheDefaultForAMissingValueOnly) {
  const ExampleParser parser({{.key = "a", .shape = {2}, .default_value = Tensor::scalar(9.0F)},
                              {.key = "s", .dtype = bytes, .default_value = Tensor::scalar("none")}});
  for (const std::string& message : {std::string(), example(""), example(entry("a", "") + entry("s", ""))}) {
    const auto got = parse(parser, message);
    EXPECT_THAT(values<float>(got[0]), ElementsAre(9, 9));
    EXPECT_EQ(got[1].bytes_at(0), "none");
  }
  EXPECT_THAT(values<float>(parse(parser, example(entry("a", floats({1, 2}))))[0]), ElementsAre(1, 2));
  EXPECT_THAT(parse_error(parser, example(entry("a", floats({})))).message(),
              HasSubstr("2 values of float32 expected, 0 of"));
}

TEST(FixedLen, WritesDefaultsToTargets) {
  const ExampleParser parser({{.key = "a", .shape = {2}, .default_value = Tensor::scalar(9.0F)},
                              {.key = "raw", .dtype = u8, .default_value = Tensor::scalar(uint8_t{5})}});
  std::array<float, 2> row = {};
  std::byte pixel = {};
  std::array<std::byte*, 2> targets = {reinterpret_cast<std::byte*>(row.data()), &pixel};
  ASSERT_TRUE(parser.parse({}, targets, {}));
  EXPECT_THAT(row, ElementsAre(9, 9));
  EXPECT_EQ(pixel, std::byte{5});
}

TEST(FixedLen, RefusesRawBytesOfAnotherLengthOrNumber) {
  const ExampleParser parser({{.key = "raw", .dtype = u8, .shape = {2, 2}}});
  EXPECT_EQ(parse_error(parser, example(entry("raw", strings({"12345"})))).message(),
            "Example, feature 'raw': one value of 4 bytes expected, 1 of 5 bytes found, at offset 13");
  EXPECT_THAT(parse_error(parser, example(entry("raw", strings({"12", "34"})))).message(),
              HasSubstr("2 of 4 bytes found"));
  EXPECT_THAT(parse_error(parser, example(entry("raw", strings({})))).message(), HasSubstr("0 of 0 bytes found"));
  EXPECT_THAT(parse_error(parser, example(entry("raw", ints({1, 2, 3, 4})))).message(), HasSubstr("4 of int64 found"));
}

TEST(VarLen, GivesAsManyAsThereAre) {
  const ExampleParser parser({{.key = "f", .kind = VarLen},
                              {.key = "i", .dtype = i64, .kind = VarLen},
                              {.key = "s", .dtype = bytes, .kind = VarLen}});
  auto got = parse(parser, example(entry("f", floats({1, 2, 3})) + entry("i", ints({})) + entry("s", strings({"a"}))));
  EXPECT_THAT(values<float>(got[0]), ElementsAre(1, 2, 3));
  EXPECT_EQ(got[1].shape(), (Shape{0}));
  EXPECT_THAT(texts(got[2]), ElementsAre("a"));
  got = parse(parser, "");
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(got[i].shape(), (Shape{0}));
    EXPECT_EQ(got[i].dtype(), parser.fields()[i].dtype);
  }
  EXPECT_THAT(parse_error(parser, example(entry("s", floats({1})))).message(),
              HasSubstr("feature 's': values of bytes expected, 1 of float32 found"));
}

TEST(FixedLenSequence, CountsSteps) {
  const ExampleParser parser({{.key = "a", .dtype = i64, .shape = {2}, .kind = FixedLenSequence},
                              {.key = "b", .shape = {3}, .kind = FixedLenSequence, .allow_missing = true}});
  const auto got = parse(parser, example(entry("a", ints({1, 2, 3, 4}))));
  EXPECT_EQ(got[0].shape(), (Shape{2, 2}));
  EXPECT_THAT(values<int64_t>(got[0]), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(got[1].shape(), (Shape{0, 3}));
  EXPECT_THAT(parse_error(parser, example(entry("a", ints({1, 2, 3})))).message(),
              HasSubstr("feature 'a': steps of 2 values of int64 expected, 3 of int64 found"));
  EXPECT_THAT(parse_error(parser, "").message(),
              HasSubstr("feature 'a': steps of 2 values of int64 expected, none found"));
  EXPECT_EQ(parse(parser, example(entry("a", ints({}))))[0].shape(), (Shape{0, 2}));
}

TEST(Ragged, TurnsRowLengthsIntoSplits) {
  const ExampleParser parser(
      {{.key = "v", .dtype = bytes, .kind = Ragged, .row_lengths = "n"}, {.key = "n", .dtype = i64, .kind = VarLen}});
  auto got = parse(parser, example(entry("v", strings({"a", "b", "c"})) + entry("n", ints({2, 0, 1}))));
  EXPECT_THAT(texts(got[0]), ElementsAre("a", "b", "c"));
  EXPECT_THAT(values<int64_t>(got[1]), ElementsAre(0, 2, 2, 3));
  EXPECT_THAT(values<int64_t>(got[2]), ElementsAre(2, 0, 1));
  got = parse(parser, "");
  EXPECT_THAT(texts(got[0]), IsEmpty());
  EXPECT_THAT(values<int64_t>(got[1]), ElementsAre(0));
}

TEST(Ragged, RefusesLengthsThatDoNotFit) {
  const ExampleParser parser({{.key = "v", .kind = Ragged, .row_lengths = "n"}});
  const auto error = [&](const std::string& lengths) {
    return parse_error(parser, example(entry("v", floats({1, 2, 3})) + entry("n", lengths))).message();
  };
  EXPECT_EQ(error(ints({1, 1})), "Example, feature 'n': a sum of 2, as row lengths of 3 values of feature 'v'");
  EXPECT_THAT(error(ints({4, -1})), HasSubstr("a length of -1"));
  EXPECT_THAT(error(ints({INT64_MAX, INT64_MAX - 1, 5})),
              HasSubstr("a length of 9223372036854775806 after a sum of 9223372036854775807"));
  EXPECT_THAT(error(floats({3})), AllOf(HasSubstr("feature 'n'"), HasSubstr("values of float32")));
  EXPECT_THAT(error(""), HasSubstr("a sum of 0"));
}

TEST(Ragged, DecodesLengthsOnceForAllThatNameThem) {
  std::vector<ExampleFeature> asked = {{.key = "n", .dtype = i64, .kind = VarLen}};
  for (const char* key : {"a", "b", "c"}) asked.push_back({.key = key, .kind = Ragged, .row_lengths = "n"});
  asked.push_back({.key = "d", .kind = Ragged, .row_lengths = "m"});
  const ExampleParser parser(asked);
  const auto got = parse(parser, example(entry("a", floats({1, 2})) + entry("b", floats({3, 4})) +
                                         entry("c", floats({5, 6})) + entry("n", ints({0, 2}))));
  for (const size_t splits : {2U, 4U, 6U}) {
    EXPECT_THAT(values<int64_t>(got[splits]), ElementsAre(0, 0, 2));
    EXPECT_EQ(got[splits].data(), got[2].data());
  }
  EXPECT_THAT(values<int64_t>(got[8]), ElementsAre(0));
  EXPECT_EQ(parse_error(parser, example(entry("a", floats({1})) + entry("b", floats({1, 2})) + entry("n", ints({1}))))
                .message(),
            "Example, feature 'n': a sum of 1, as row lengths of 2 values of feature 'b'");
}

TEST(Ragged, AsksForNoMoreMemoryThanIsPromised) {
  std::vector<ExampleFeature> asked = {{.key = "n", .dtype = i64, .kind = VarLen}};
  for (int i = 0; i < 100; ++i)
    asked.push_back({.key = "r" + std::to_string(i), .dtype = bytes, .kind = Ragged, .row_lengths = "n"});
  const std::string message = example(entry("n", ints(std::vector<int64_t>(10'000))));
  std::map<const std::byte*, size_t> memories;
  for (const Tensor& field : parse(ExampleParser(asked), message)) {
    if (field.byte_size() != 0) memories[field.data()] = field.byte_size();
  }
  size_t total = 0;
  for (const auto& [data, size] : memories) total += size;
  EXPECT_LE(total, 17 * message.size() + 64 * asked.size());
}

TEST(FeatureValues, NamesTheKeyAndTheOffsetOfAVarintThatIsTooLong) {
  const ExampleParser parser({{.key = "n", .dtype = i64}});
  const std::string run = std::string(10, '\x80') + '\x01';
  EXPECT_EQ(parse_error(parser, example(entry("n", test::field(3, test::field(1, run))))).message(),
            "Example, feature 'n': a varint of more than 10 bytes at offset 13");
}

}  // namespace
}  // namespace headpond

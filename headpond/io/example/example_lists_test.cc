// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/io/example/example_test_internal.h"

namespace headpond {
namespace {

using test::as_message;
using test::entry;
using test::floats;
using test::ints;
using test::parse_error;
using test::steps;
using test::strings;
using test::texts;
using test::values;
using testing::ElementsAre;
using testing::HasSubstr;
using enum FeatureKind;

std::string lists(const std::string& entries) { return test::sequence("", entries); }
std::vector<Tensor> parse(const SequenceExampleParser& parser, std::string_view message) {
  auto result = parser.parse(as_message(message));
  EXPECT_TRUE(result) << result.error();
  return result ? std::move(*result) : std::vector<Tensor>(parser.fields().size());
}

TEST(FeatureLists, StacksStepsOfOneShape) {
  const SequenceExampleParser parser({}, {{.key = "f", .shape = {2}, .kind = FixedLenSequence},
                                          {.key = "i", .dtype = i64, .kind = FixedLenSequence},
                                          {.key = "s", .dtype = bytes, .shape = {2}, .kind = FixedLenSequence},
                                          {.key = "raw", .dtype = u8, .shape = {3}, .kind = FixedLenSequence}});
  const auto got = parse(
      parser, lists(entry("f", steps({floats({1, 2}), test::loose_floats({3, 4})})) + entry("i", steps({ints({5})})) +
                    entry("s", steps({strings({"ab", ""}), strings({"c", "def"})})) +
                    entry("raw", steps({strings({"123"}), strings({"456"})}))));
  EXPECT_EQ(got[0].shape(), (Shape{2, 2}));
  EXPECT_THAT(values<float>(got[0]), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(got[1].shape(), (Shape{1}));
  EXPECT_EQ(got[2].shape(), (Shape{2, 2}));
  EXPECT_THAT(texts(got[2]), ElementsAre("ab", "", "c", "def"));
  EXPECT_THAT(values<uint8_t>(got[3]), ElementsAre('1', '2', '3', '4', '5', '6'));
}

TEST(FeatureLists, GivesRowsOfAnyLength) {
  const SequenceExampleParser parser({}, {{.key = "i", .dtype = i64, .kind = Ragged},
                                          {.key = "s", .dtype = bytes, .kind = Ragged},
                                          {.key = "none", .kind = Ragged}});
  const auto got = parse(parser, lists(entry("i", steps({ints({1, 2}), "", ints({3})})) +
                                       entry("s", steps({strings({}), strings({"a", "bc"})}))));
  EXPECT_THAT(values<int64_t>(got[0]), ElementsAre(1, 2, 3));
  EXPECT_THAT(values<int64_t>(got[1]), ElementsAre(0, 2, 2, 3));
  EXPECT_THAT(texts(got[2]), ElementsAre("a", "bc"));
  EXPECT_THAT(values<int64_t>(got[3]), ElementsAre(0, 0, 2));
  EXPECT_EQ(got[4].shape(), (Shape{0}));
  EXPECT_THAT(values<int64_t>(got[5]), ElementsAre(0));
}

TEST(FeatureLists, KnowsAMissingListFromOneWithoutSteps) {
  const SequenceExampleParser parser({}, {{.key = "a", .shape = {2}, .kind = FixedLenSequence}});
  EXPECT_EQ(parse(parser, lists(entry("a", "")))[0].shape(), (Shape{0, 2}));
  EXPECT_EQ(parse_error(parser, "").message(),
            "SequenceExample, feature 'a': steps of 2 values of float32 expected, none found");
  const SequenceExampleParser lenient({},
                                      {{.key = "a", .shape = {2}, .kind = FixedLenSequence, .allow_missing = true}});
  EXPECT_EQ(parse(lenient, "")[0].shape(), (Shape{0, 2}));
}

TEST(FeatureLists, NamesTheStepThatDoesNotFit) {
  const SequenceExampleParser parser({}, {{.key = "a", .shape = {2}, .kind = FixedLenSequence}});
  EXPECT_EQ(parse_error(parser, lists(entry("a", steps({floats({1, 2}), floats({3})})))).message(),
            "SequenceExample, feature 'a', step 1: 2 values of float32 expected, 1 of float32 found, at offset 29");
  EXPECT_THAT(parse_error(parser, lists(entry("a", steps({floats({1, 2}), ""})))).message(), HasSubstr("step 1"));
  EXPECT_THAT(parse_error(parser, lists(entry("a", steps({ints({1, 2})})))).message(), HasSubstr("2 of int64 found"));
  const SequenceExampleParser ragged({}, {{.key = "a", .kind = Ragged}});
  EXPECT_THAT(parse_error(ragged, lists(entry("a", steps({floats({1}), ints({1})})))).message(), HasSubstr("step 1"));
}

TEST(FeatureLists, AllocatesOnlyWhatTheStepsHold) {
  const SequenceExampleParser parser({}, {{.key = "a", .shape = {int64_t{1} << 40}, .kind = FixedLenSequence}});
  std::vector<std::string> many(1000, floats({}));
  EXPECT_EQ(parse_error(parser, lists(entry("a", steps(many)))).kind(), ErrorKind::InvalidArgument);
}

TEST(FeatureLists, RefusesBrokenSteps) {
  const SequenceExampleParser parser({}, {{.key = "a", .dtype = i64, .kind = Ragged}});
  const std::string endless = test::field(3, test::field(1, std::string(10, '\x80') + '\x01'));
  EXPECT_THAT(parse_error(parser, lists(entry("a", steps({ints({1}), endless})))).message(),
              HasSubstr("feature 'a': a varint of more than 10 bytes at offset"));
  EXPECT_THAT(parse_error(parser, lists(entry("a", test::varint(1 << 3) + test::varint(1)))).message(),
              HasSubstr("feature 'a': a value with a length was expected, wire type 0 found"));
}

}  // namespace
}  // namespace headpond

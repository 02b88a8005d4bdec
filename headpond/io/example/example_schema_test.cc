// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/example/example_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/io/example/example_test_internal.h"
#include "headpond/io/memory_test_internal.h"

namespace headpond {
namespace {

using test::as_message;
using test::entry;
using test::example;
using test::floats;
using test::ints;
using test::steps;
using test::strings;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(DescribeExample, GivesKeysInOrderWithTypesAndCounts) {
  const auto infos =
      describe_example(as_message(example(entry("z", floats({1, 2})) + entry("a", strings({"ab", "c"})) +
                                          entry("m", "") + entry("i", ints({})) + entry("z", ints({1})))));
  EXPECT_THAT(infos.value(), ElementsAre(FeatureInfo{"a", bytes, 2, 3, 0}, FeatureInfo{"i", i64, 0, 0, 0},
                                         FeatureInfo{"m", std::nullopt, 0, 0, 0}, FeatureInfo{"z", i64, 1, 0, 0}));
  EXPECT_THAT(describe_example({}).value(), IsEmpty());
}

TEST(DescribeExample, NamesWhatIsBroken) {
  EXPECT_THAT(describe_example(as_message(example(entry("a", "\x80")))).error().message(),
              HasSubstr("feature 'a': a varint is truncated at offset"));
  EXPECT_EQ(describe_example(as_message(example(entry("a", "") + entry("b", ""))), {.max_features = 1}).error().kind(),
            ErrorKind::ResourceExhausted);
}

TEST(DescribeExample, CountsNumbersWithoutDecodingThem) {
  const std::string message = example(entry("a", test::field(3, test::field(1, std::string(10, '\x80') + '\x01'))));
  EXPECT_THAT(describe_example(as_message(message)).value(), ElementsAre(FeatureInfo{"a", i64, 1, 0, 0}));
  EXPECT_THAT(test::parse_error(ExampleParser({{.key = "a", .dtype = i64}}), message).message(),
              HasSubstr("a varint of more than 10 bytes"));
}

TEST(DescribeExample, SaysWhenMemoryRunsOut) {
  SKIP_UNLESS_MEMORY_CAN_BE_LIMITED();
  std::string entries;
  for (int i = 0; i < 3'000'000; ++i) entries += entry(std::to_string(i), "");
  const std::string message = example(entries), both = test::sequence(entries, "");
  const ExampleLimits any = {.max_features = UINT64_MAX};
  EXPECT_OUT_OF_MEMORY([&] { return describe_example(as_message(message), any); });
  EXPECT_OUT_OF_MEMORY([&] { return describe_sequence_example(as_message(both), any); });
}

TEST(DescribeSequenceExample, GivesContextAndLists) {
  const auto info = describe_sequence_example(as_message(
      test::sequence(entry("c", ints({1})), entry("l", steps({"", floats({1, 2}), floats({3})})) + entry("e", ""))));
  EXPECT_THAT(info->context, ElementsAre(FeatureInfo{"c", i64, 1, 0, 0}));
  EXPECT_THAT(info->lists, ElementsAre(FeatureInfo{"e", std::nullopt, 0, 0, 0}, FeatureInfo{"l", f32, 3, 0, 3}));
}

TEST(DescribeSequenceExample, RefusesStepsOfDifferentTypes) {
  const auto info =
      describe_sequence_example(as_message(test::sequence("", entry("l", steps({ints({1}), floats({1})})))));
  EXPECT_THAT(info.error().message(), HasSubstr("feature 'l': a step of float32 after steps of int64"));
}

}  // namespace
}  // namespace headpond

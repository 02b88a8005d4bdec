// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "headpond/io/example/example_test_internal.h"

namespace headpond {
namespace {

using test::as_message;
using test::entry;
using test::floats;
using test::ints;
using test::parse_error;
using test::steps;
using testing::ElementsAre;
using testing::HasSubstr;
using enum FeatureKind;

const SequenceExampleParser& parser() {
  static const SequenceExampleParser parser({{.key = "label", .dtype = i64}, {.key = "x", .kind = VarLen}},
                                            {{.key = "v", .kind = Ragged}});
  return parser;
}
std::string whole() {
  return test::sequence(entry("label", ints({7})) + entry("x", floats({1, 2})),
                        entry("v", steps({floats({3}), floats({4, 5})})));
}

TEST(SequenceExample, GivesTheContextFirst) {
  const auto got = parser().parse(as_message(whole())).value();
  ASSERT_EQ(got.size(), 4U);
  EXPECT_EQ(parser().fields()[3].name, "v.row_splits");
  EXPECT_THAT(got[0].as<int64_t>(), ElementsAre(7));
  EXPECT_THAT(got[1].as<float>(), ElementsAre(1, 2));
  EXPECT_THAT(got[2].as<float>(), ElementsAre(3, 4, 5));
  EXPECT_THAT(got[3].as<int64_t>(), ElementsAre(0, 1, 3));
}

TEST(SequenceExample, WritesContextNumbersToTargets) {
  int64_t label = 0;
  std::array<std::byte*, 4> targets = {reinterpret_cast<std::byte*>(&label), nullptr, nullptr, nullptr};
  std::array<Tensor, 4> out;
  ASSERT_TRUE(parser().parse(as_message(whole()), targets, out));
  EXPECT_EQ(label, 7);
  EXPECT_EQ(out[0].size(), 0);
  EXPECT_EQ(parser().parse(as_message(whole()), {}, std::span(out).first(3)).error().kind(),
            ErrorKind::InvalidArgument);
}

// TensorFlow's feature_list_lengths.
TEST(SequenceExample, GivesTheLengthsOfItsLists) {
  const SequenceExampleParser lengths(
      {{.key = "c", .kind = FixedLenSequence, .allow_missing = true, .with_length = true}},
      {{.key = "v", .shape = {2}, .kind = FixedLenSequence, .with_length = true},
       {.key = "none", .dtype = bytes, .kind = FixedLenSequence, .allow_missing = true, .with_length = true},
       {.key = "w", .dtype = i64, .kind = FixedLenSequence}});
  EXPECT_EQ(test::fields_of(lengths.fields()),
            "c float32[?], c.length int64[], v float32[?,2], v.length int64[], none bytes[?], none.length int64[], w "
            "int64[?]");
  EXPECT_THAT(lengths.describe(), HasSubstr("'v': FixedLenSequence float32[2] with_length"));
  const std::string message = test::sequence(entry("c", floats({1, 2, 3})),
                                             entry("v", steps({floats({1, 2}), floats({3, 4})})) + entry("w", ""));
  const auto got = lengths.parse(as_message(message)).value();
  EXPECT_EQ(got[1].item<int64_t>(), 3);
  EXPECT_EQ(got[3].item<int64_t>(), 2);
  EXPECT_EQ(got[5].item<int64_t>(), 0);
  int64_t length = -1;
  std::array<std::byte*, 7> targets = {};
  targets[3] = reinterpret_cast<std::byte*>(&length);
  std::array<Tensor, 7> out;
  ASSERT_TRUE(lengths.parse(as_message(message), targets, out));
  EXPECT_EQ(length, 2);
  EXPECT_THROW(SequenceExampleParser({}, {{.key = "v", .kind = Ragged, .with_length = true}}), Exception);
}

TEST(SequenceExample, KeepsEqualKeysOfContextAndListsApart) {
  const SequenceExampleParser lists({}, {{.key = "a", .kind = Ragged}});
  EXPECT_TRUE(lists.parse(as_message(test::sequence(entry("a", ints({1})), entry("a", steps({floats({1})}))))));
  EXPECT_THROW(SequenceExampleParser({{.key = "a"}}, {{.key = "a", .kind = Ragged}}), Exception);
}

TEST(SequenceExample, GivesAValueOrAnErrorForEveryCutAndFlippedBit) {
  const std::string message = whole();
  for (size_t cut = 0; cut < message.size(); ++cut) {
    const std::vector<char> exact(message.begin(), message.begin() + static_cast<ptrdiff_t>(cut));
    const Error error = parse_error(parser(), {exact.data(), exact.size()});
    if (error) {
      EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument) << cut;
    }
  }
  for (size_t bit = 0; bit < 8 * message.size(); ++bit) {
    std::vector<char> exact(message.begin(), message.end());
    exact[bit / 8] = static_cast<char>(exact[bit / 8] ^ 1 << bit % 8);
    const Error error = parse_error(parser(), {exact.data(), exact.size()});
    if (error) {
      EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument) << bit;
    }
  }
}

TEST(SequenceExample, CountsFeaturesOfBothMaps) {
  const auto limited = [](uint64_t features) {
    return SequenceExampleParser({}, {{.key = "v", .kind = Ragged}}, {.max_features = features});
  };
  EXPECT_EQ(parse_error(limited(2), whole()).kind(), ErrorKind::ResourceExhausted);
  EXPECT_THAT(parse_error(limited(2), whole()).message(), HasSubstr("too many features"));
  EXPECT_FALSE(parse_error(limited(3), whole()));
}

}  // namespace
}  // namespace headpond

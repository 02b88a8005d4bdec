// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/example/example_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/io/example/example_test_internal.h"
#include "headpond/io/memory_test_internal.h"

namespace headpond {
namespace {

using test::entry;
using test::example;
using test::floats;
using test::ints;
using test::steps;
using test::strings;
using testing::HasSubstr;

Tensor f(const std::vector<float>& values) {
  return Tensor::from<float>(values, {static_cast<int64_t>(values.size())});
}
Tensor i(const std::vector<int64_t>& values) {
  return Tensor::from<int64_t>(values, {static_cast<int64_t>(values.size())});
}
Tensor s(const std::vector<std::string_view>& values) {
  return Tensor::from(values, {static_cast<int64_t>(values.size())});
}
std::string make(const std::vector<NamedTensor>& features) { return make_example(features).value(); }

TEST(MakeExample, WritesKeysInOrderAndNumbersPacked) {
  EXPECT_EQ(make({{"n", i({1, -1, 300})}, {"b", s({"x", ""})}, {"a", f({1.5F})}}),
            example(entry("a", floats({1.5F})) + entry("b", strings({"x", ""})) + entry("n", ints({1, -1, 300}))));
  EXPECT_EQ(make({{"pixels", Tensor::from<uint8_t>(std::vector<uint8_t>{65, 66, 67, 68}, {2, 2})}}),
            example(entry("pixels", strings({"ABCD"}))));
}

TEST(MakeExample, KeepsEmptyListsAsListsAndTheEmptyMessageAsOne) {
  EXPECT_EQ(make({}), example(""));
  EXPECT_EQ(make({{"", i({})}, {"f", f({})}, {"s", s({})}}),
            example(entry("", test::field(3, "")) + entry("f", test::field(2, "")) + entry("s", test::field(1, ""))));
}

TEST(MakeExample, AFeatureWithoutAListIsEmptyForAnyDtype) {
  const std::string made = make({{"e", Tensor::from<double>({}, {0})}});
  EXPECT_EQ(made, example(entry("e", "")));
  for (const DType dtype : {DType::f32, DType::i64, DType::bytes}) {
    const ExampleParser parser({{.key = "e", .dtype = dtype, .kind = FeatureKind::VarLen}});
    EXPECT_EQ(parser.parse(test::as_message(made)).value()[0].size(), 0);
  }
  EXPECT_EQ(make_sequence_example({}, std::vector<NamedSteps>{{"e", {Tensor::from<double>({}, {0})}}}).value(),
            test::field(1, "") + test::field(2, entry("e", test::field(1, ""))));
}

TEST(MakeExample, WritesLengthsOfSeveralBytes) {
  for (const size_t length : {127U, 128U, 16383U, 16384U, 3'000'000U}) {
    const std::string text(length, 'x');
    EXPECT_EQ(make({{"a", Tensor::scalar(text)}}), example(entry("a", strings({text})))) << length;
  }
}

TEST(MakeExample, IsReadBack) {
  const ExampleParser parser({{.key = "f", .shape = {2}}, {.key = "s", .dtype = bytes, .kind = FeatureKind::VarLen}});
  const auto got = parser.parse(test::as_message(make({{"s", s({"a", "bc"})}, {"f", f({1, 2})}}))).value();
  EXPECT_EQ(test::values<float>(got[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(test::texts(got[1]), (std::vector<std::string>{"a", "bc"}));
}

TEST(MakeExample, RefusesEqualKeysAndOtherTypes) {
  const auto error = [](const std::vector<NamedTensor>& features) { return make_example(features).error(); };
  EXPECT_EQ(error({{"a", f({})}, {"b", f({})}, {"a", i({})}}).kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(error({{"a", f({})}, {"a", f({})}}).message(), "feature 'a' occurs twice");
  EXPECT_THAT(error({{"a", Tensor::scalar(1.0)}}).message(), HasSubstr("feature 'a': an Example holds no float64"));
}

TEST(MakeExample, RefusesKeysThatAreNoUtf8) {
  const auto error = [](std::string_view key) {
    const auto message = make_example(std::vector<NamedTensor>{{key, f({})}});
    return message ? std::string() : message.error().message();
  };
  for (const char* key :
       {"\x80", "\xc3", "\xc3(", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xe2\x82(", "\xff"}) {
    EXPECT_THAT(error(std::string("ab") + key), HasSubstr("its byte 2 begins no character")) << key;
  }
  for (const char* key : {"\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xef\xbf\xbf",
                          "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "\xc3\xa9t\xc3\xa9"}) {
    EXPECT_EQ(error(key), "") << key;
  }
  EXPECT_EQ(error({"\0", 1}), "");
  const std::vector<NamedSteps> lists = {{"\xff", {}}};
  EXPECT_EQ(make_sequence_example({}, lists).error().message(),
            "feature '\\xff': a key is UTF-8, and its byte 0 begins no character");
}

TEST(MakeExample, RefusesWhatOthersCannotRead) {
  static const std::byte kOne{};
  const Tensor large = Tensor::view(&kOne, u8, {int64_t{1} << 31});  // Never read: the length is enough.
  EXPECT_EQ(make_example(std::vector<NamedTensor>{{"a", large}}).error().kind(), ErrorKind::ResourceExhausted);
}

TEST(MakeExample, SaysWhenMemoryRunsOut) {
  static const std::byte kOne{};
  const std::vector<NamedTensor> large = {{"a", Tensor::view(&kOne, u8, {int64_t{1} << 30})}};  // Never read, too.
  EXPECT_OUT_OF_MEMORY([&] { return make_example(large); });
  EXPECT_OUT_OF_MEMORY([&] { return make_sequence_example(large, {}); });
}

TEST(MakeSequenceExample, WritesContextThenLists) {
  const std::vector<NamedTensor> context = {{"c", i({1})}};
  const std::vector<NamedSteps> lists = {{"v", {f({1}), f({}), f({2, 3})}}, {"none", {}}};
  EXPECT_EQ(make_sequence_example(context, lists).value(),
            test::sequence(entry("c", ints({1})),
                           entry("none", "") + entry("v", steps({floats({1}), test::field(2, ""), floats({2, 3})}))));
  EXPECT_EQ(make_sequence_example({}, {}).value(), test::sequence("", ""));
  const std::vector<NamedSteps> wrong = {{"v", {Tensor::scalar(true)}}};
  EXPECT_EQ(make_sequence_example({}, wrong).error().kind(), ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace headpond

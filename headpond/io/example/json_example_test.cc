// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/example/json_example.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headpond/io/example/example_schema.h"
#include "headpond/io/example/example_test_internal.h"
#include "headpond/io/example/example_writer.h"

namespace headpond {
namespace {

using test::as_message;
using test::texts;
using test::values;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using enum FeatureKind;

std::string with_feature(const std::string& feature) { return R"({"features": {"feature": {"x": )" + feature + "}}}"; }

Tensor feature(const std::string& json, DType dtype) {
  const auto message = decode_json_example(with_feature(json));
  if (!message) {
    ADD_FAILURE() << message.error();
    return Tensor::empty(dtype, {0});
  }
  return ExampleParser({{.key = "x", .dtype = dtype, .kind = VarLen}}).parse(as_message(*message)).value()[0];
}
std::vector<float> floats(const std::string& list) {
  return values<float>(feature(R"({"floatList": {"value": )" + list + "}}", f32));
}
std::vector<int64_t> ints(const std::string& list) {
  return values<int64_t>(feature(R"({"int64List": {"value": )" + list + "}}", i64));
}

std::string refusal_of(const std::string& json, const ExampleLimits& limits = {}) {
  const auto message = decode_json_example(json, limits);
  if (message) return "no error";
  EXPECT_EQ(message.error().kind(), ErrorKind::InvalidArgument) << json;
  return message.error().message();
}
std::string list_error(const std::string& list, const std::string& value) {
  return refusal_of(with_feature("{\"" + list + "\": {\"value\": [" + value + "]}}"));
}

TEST(JsonExample, GivesTheBytesThatTheWriterGives) {
  const std::string json = R"({"features": {"feature": {
      "n": {"int64List": {"value": ["1", -300, 9223372036854775807]}},
      "a\u00e4": {"bytesList": {"value": ["dGV4dA==", ""]}},
      "x": {"float_list": {"value": [0.5, 2]}},
      "none": {"floatList": {}}, "empty": {"int64List": {"value": []}}}}})";
  const Tensor strings = Tensor::from(std::vector<std::string>{"text", ""}, {2});
  const std::vector<NamedTensor> features = {{"n", Tensor::from(std::vector<int64_t>{1, -300, INT64_MAX}, {3})},
                                             {"a\xc3\xa4", strings},
                                             {"x", Tensor::from(std::vector<float>{0.5F, 2}, {2})},
                                             {"none", Tensor::empty(f32, {0})},
                                             {"empty", Tensor::empty(i64, {0})}};
  EXPECT_EQ(decode_json_example(json).value(), make_example(features).value());
}

TEST(JsonExample, KeepsFeaturesWithoutAList) {
  for (const char* const none : {"{}", R"({"floatList": null})"}) {
    const auto message = decode_json_example(with_feature(none)).value();
    const auto infos = describe_example(as_message(message)).value();
    ASSERT_EQ(infos.size(), 1U);
    EXPECT_EQ(infos[0].key, "x");
    EXPECT_FALSE(infos[0].dtype);
  }
  EXPECT_EQ(decode_json_example("{}").value(), "");
  EXPECT_EQ(decode_json_example(R"({"features": null})").value(), test::example(""));
  EXPECT_EQ(decode_json_example(R"({"features": {"feature": {}}})").value(), test::example(""));
  EXPECT_EQ(decode_json_example(R"({"features": {"feature": null}})").value(), test::example(""));
}

TEST(JsonExample, ReadsNumbersAsProtobufDoes) {
  EXPECT_THAT(floats(R"([1, -2.5, 1e3, "0.25", "-7", 16777217])"), ElementsAre(1, -2.5F, 1000, 0.25F, -7, 16777216));
  EXPECT_THAT(floats("[3.4028235e+38]"), ElementsAre(std::numeric_limits<float>::max())) << "as protobuf writes it";
  const auto special = floats(R"(["NaN", "Infinity", "-Infinity"])");
  EXPECT_TRUE(std::isnan(special.at(0)));
  EXPECT_EQ(special.at(1), std::numeric_limits<float>::infinity());
  EXPECT_EQ(special.at(2), -std::numeric_limits<float>::infinity());
  EXPECT_THAT(ints(R"([1e3, -2.0, "5", "1e2", "-9223372036854775808"])"), ElementsAre(1000, -2, 5, 100, INT64_MIN));
  EXPECT_THAT(ints("null"), IsEmpty());
  EXPECT_THAT(texts(feature(R"({"bytesList": {"value": ["_-8", "_-8=", "AAE="]}})", bytes)),
              ElementsAre("\xff\xef", "\xff\xef", std::string("\0\1", 2)));
}

TEST(JsonExample, RefusesValuesOfAnotherKindWithFeatureAndOffset) {
  EXPECT_EQ(list_error("int64List", "1.5"), "JSON Example, feature 'x': 1.5 is not an int64, before offset 60");
  EXPECT_THAT(list_error("int64List", "9223372036854775808"), HasSubstr("is not an int64"));
  EXPECT_THAT(list_error("int64List", "\"9223372036854775808\""), HasSubstr("is not an int64"));
  EXPECT_THAT(list_error("int64List", "\"NaN\""), HasSubstr("nan is not an int64"));
  EXPECT_THAT(list_error("int64List", "\"x\""), HasSubstr("the string 'x', where a number belongs"));
  EXPECT_THAT(list_error("int64List", "\"+1\""), HasSubstr("where a number belongs"));
  EXPECT_THAT(list_error("int64List", "\" 1\""), HasSubstr("where a number belongs"));
  EXPECT_THAT(list_error("floatList", "3.402823568e38"), HasSubstr("is out of the range of float32"));
  EXPECT_THAT(list_error("floatList", "1e39"), HasSubstr("is out of the range of float32"));
  EXPECT_THAT(list_error("floatList", "1e400"), HasSubstr("a number beyond float64"));
  EXPECT_THAT(list_error("floatList", "\"nan\""), HasSubstr("where a number belongs"));
  EXPECT_THAT(list_error("floatList", "\"inf\""), HasSubstr("where a number belongs"));
  EXPECT_THAT(list_error("floatList", "true"), HasSubstr("true or false, where none belongs"));
  EXPECT_THAT(list_error("floatList", "null"), HasSubstr("null, where a value belongs"));
  EXPECT_THAT(list_error("floatList", "[1]"), HasSubstr("an array, where none belongs"));
  EXPECT_THAT(list_error("floatList", "{}"), HasSubstr("an object, where none belongs"));
  EXPECT_THAT(list_error("bytesList", "\"a\""), HasSubstr("not base64"));
  EXPECT_THAT(list_error("bytesList", "1"), HasSubstr("a number in a list of bytes"));
}

TEST(JsonExample, RefusesAnyOtherObject) {
  EXPECT_THAT(refusal_of(""), HasSubstr("JSON Example: syntax error"));
  EXPECT_THAT(refusal_of("[]"), HasSubstr("an array, where none belongs"));
  EXPECT_THAT(refusal_of("null"), HasSubstr("null, where a value belongs"));
  EXPECT_THAT(refusal_of("7"), HasSubstr("a number, where none belongs"));
  EXPECT_THAT(refusal_of("{} {}"), HasSubstr("syntax error"));
  EXPECT_THAT(refusal_of(std::string("{}\0x", 4)), HasSubstr("something follows"));
  EXPECT_THAT(refusal_of(R"({"feature": {}})"), HasSubstr("key 'feature', where only 'features' belongs"));
  EXPECT_THAT(refusal_of(R"({"features": 1})"), HasSubstr("a number, where none belongs"));
  EXPECT_THAT(refusal_of(R"({"features": {"feature": []}})"), HasSubstr("an array"));
  EXPECT_THAT(refusal_of(R"({"features": {}, "features": {}})"), HasSubstr("key 'features' twice"));
  EXPECT_THAT(refusal_of(with_feature("null")), HasSubstr("feature 'x': null, where a value belongs"));
  EXPECT_THAT(refusal_of(with_feature(R"({"boolList": {}})")), HasSubstr("key 'boolList', where bytesList"));
  EXPECT_THAT(refusal_of(with_feature(R"({"floatList": {"values": []}})")), HasSubstr("where only 'value' belongs"));
  EXPECT_THAT(refusal_of(with_feature(R"({"floatList": {"value": [], "value": []}})")), HasSubstr("'value' twice"));
  EXPECT_THAT(refusal_of(with_feature(R"({"floatList": {}, "int64List": {}})")), HasSubstr("a second list"));
  EXPECT_THAT(refusal_of(with_feature(R"({}, "x": {})")), HasSubstr("feature 'x' twice"));
  EXPECT_THAT(refusal_of("{\"features\": {\"feature\": {\"\xff\": {}}}}"), HasSubstr("syntax error"));
}

TEST(JsonExample, KeepsToItsLimits) {
  const std::string two = R"({"features": {"feature": {"x": {}, "y": {}}}})";
  EXPECT_TRUE(decode_json_example(two, {.max_bytes = two.size(), .max_features = 2}));
  EXPECT_EQ(decode_json_example(two, {.max_bytes = two.size() - 1}).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(decode_json_example(two, {.max_features = 1}).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_FALSE(decode_json_example(std::string(1'000'000, '[')));
  EXPECT_FALSE(decode_json_example(with_feature(std::string(1'000'000, '{'))));
}

TEST(JsonExample, GivesAMessageOrAnErrorForEveryCut) {
  const std::string json = with_feature(R"({"int64List": {"value": [1, "2"]}})");
  for (size_t cut = 0; cut < json.size(); ++cut) {
    const std::vector<char> exact(json.begin(), json.begin() + static_cast<ptrdiff_t>(cut));
    EXPECT_EQ(decode_json_example({exact.data(), exact.size()}).error().kind(), ErrorKind::InvalidArgument) << cut;
  }
}

}  // namespace
}  // namespace headpond

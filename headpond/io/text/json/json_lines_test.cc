// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/json/json_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>

#include "headpond/io/memory_test_internal.h"

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<Tensor> one(const JsonField& field, std::string_view text) {
  auto fields = JsonParser({field}).parse(text);
  if (!fields) return fail(fields.error());
  return (*fields)[0];
}
std::string error(const JsonField& field, std::string_view text) {
  const auto got = one(field, text);
  if (got) return "no error";
  EXPECT_EQ(got.error().kind(), ErrorKind::InvalidArgument);
  return got.error().message();
}

TEST(JsonParser, ReadsTheKeysAskedForAndPassesOverTheOthers) {
  const JsonParser parser({{.key = "label", .dtype = i64},
                           {.key = "x", .shape = {2, 2}},
                           {.key = "text", .dtype = bytes},
                           {.key = "ok", .dtype = boolean},
                           {.key = "any", .dtype = u8, .shape = {kUnknown}}});
  const auto got = parser
                       .parse(R"( {"other": {"label": [1, {"x": null}]}, "x": [[1, 2.5], [-3e0, 4]], "any": [],
      "label": -7, "ok": true, "text": "a\n\u00e9\ud83d\ude00", "more": [[["x"]], 1e30]} )")
                       .value();
  EXPECT_THAT(got[0].as<int64_t>(), ElementsAre(-7));
  EXPECT_EQ(got[1].shape(), (Shape{2, 2}));
  EXPECT_THAT(got[1].as<float>(), ElementsAre(1, 2.5F, -3, 4));
  EXPECT_EQ(got[2].bytes_at(0), "a\n\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_TRUE(got[3].as<bool>()[0]);
  EXPECT_EQ(got[4].shape(), (Shape{0}));
  EXPECT_EQ(parser.fields()[1].name, "x");
  EXPECT_EQ(parser.fields()[4].shape, (Shape{kUnknown}));
}

TEST(JsonParser, NumbersGoStraightToTheirTargets) {
  const JsonParser parser({{.key = "x", .dtype = f64, .shape = {2}}, {.key = "s", .dtype = bytes}});
  std::array<std::byte, 17> memory;
  const std::array<std::byte*, 2> targets = {&memory[1], nullptr};
  std::vector<Tensor> out(2);
  ASSERT_TRUE(parser.parse(R"({"x":[0.1,2],"s":"y"})", targets, out));
  std::array<double, 2> x = {};
  std::memcpy(x.data(), &memory[1], sizeof x);
  EXPECT_THAT(x, ElementsAre(0.1, 2));
  EXPECT_EQ(out[1].bytes_at(0), "y");
  EXPECT_EQ(parser.parse("{}", targets, {}).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(parser.parse("{}", std::span(targets).first(1), out).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(parser.parse(R"({"x":[0.1,2],"s":"y"})", targets, {}).error().kind(), ErrorKind::InvalidArgument);
}

TEST(JsonParser, AnOpenFirstDimensionIsAsLongAsTheText) {
  const JsonField rows = {.key = "x", .dtype = i32, .shape = {kUnknown, 2}};
  EXPECT_EQ(one(rows, R"({"x":[[1,2],[3,4],[5,6]]})")->shape(), (Shape{3, 2}));
  EXPECT_EQ(one(rows, R"({"x":[]})")->shape(), (Shape{0, 2}));
  const Tensor words = one({.key = "x", .dtype = bytes, .shape = {kUnknown}}, R"({"x":["a","","bc"]})").value();
  EXPECT_EQ(words.shape(), (Shape{3}));
  EXPECT_EQ(words.bytes_at(1), "");
  EXPECT_EQ(words.bytes_at(2), "bc");
}

TEST(JsonParser, AMissingKeyOrNullIsTheDefaultOrAnError) {
  const JsonField defaulted = {.key = "x", .shape = {2}, .default_value = Tensor::scalar(3.0F)};
  EXPECT_THAT(one(defaulted, "{}")->as<float>(), ElementsAre(3, 3));
  EXPECT_THAT(one(defaulted, R"({"x":null})")->as<float>(), ElementsAre(3, 3));
  const JsonField open = {.key = "x", .shape = {kUnknown}, .default_value = Tensor::from<float>({}, {0})};
  EXPECT_THAT(one(open, "{}")->as<float>(), IsEmpty());
  EXPECT_EQ(error({.key = "x", .shape = {2}}, R"({"y":[1,2]} )"),
            "JSON: key 'x': float32[2] expected, and it has no default; none in the object that ends at offset 10");
  EXPECT_THAT(error({.key = "x"}, R"({"x":null})"), HasSubstr("key 'x': float32 expected"));
}

TEST(JsonParser, OfAKeyThatIsThereTwiceTheLastOneCounts) {
  EXPECT_THAT(one({.key = "x", .shape = {2}}, R"({"x":[1,2],"x":[3,4]})")->as<float>(), ElementsAre(3, 4));
  EXPECT_THAT(one({.key = "x", .default_value = Tensor::scalar(5.0F)}, R"({"x":1,"x":null})")->as<float>(),
              ElementsAre(5));
  EXPECT_THAT(error({.key = "x"}, R"({"x":"no","x":1})"), HasSubstr("the string 'no'"));
}

TEST(JsonParser, NamesKeyExpectedFoundAndOffset) {
  EXPECT_EQ(error({.key = "x", .dtype = i64}, R"({"a": 1, "x": "7"})"),
            "JSON: key 'x': int64 expected, found the string '7', at offset 14");
  EXPECT_EQ(error({.key = "x", .shape = {2}}, R"({"x":[1, 22, 3]})"),
            "JSON: key 'x': float32[2] expected, found more than 2 in an array inside 1 array, at offset 13");
  EXPECT_EQ(error({.key = "x", .shape = {2}}, R"({"x":[1 ]})"),
            "JSON: key 'x': float32[2] expected, found an array of 1, at offset 8");
  EXPECT_EQ(error({.key = "x", .shape = {2}}, R"({"x":1})"),
            "JSON: key 'x': float32[2] expected, found the number '1', at offset 5");
  EXPECT_EQ(error({.key = "x"}, R"({"x":{"y":1}})"), "JSON: key 'x': float32 expected, found an object, at offset 5");
  EXPECT_EQ(error({.key = "x", .dtype = boolean}, "\xef\xbb\xbf{\"x\": 1}"),
            "JSON: key 'x': bool expected, found the number '1', at offset 9");
  EXPECT_EQ(error({.key = "x", .dtype = bytes}, R"({"x":true})"),
            "JSON: key 'x': bytes expected, found true, at offset 5");
  EXPECT_EQ(error({.key = "x", .shape = {1}}, R"({"x":[null]})"),
            "JSON: key 'x': float32[1] expected, found null inside 1 array, at offset 6");
}

TEST(JsonParser, RefusesNumbersThatTheDtypeCannotHold) {
  EXPECT_THAT(error({.key = "x", .dtype = i32}, R"({"x":2147483648})"), HasSubstr("out of its range, at offset 5"));
  EXPECT_THAT(error({.key = "x", .dtype = i64}, R"({"x":9223372036854775808})"), HasSubstr("out of its range"));
  EXPECT_THAT(error({.key = "x", .dtype = i64}, R"({"x":99999999999999999999})"), HasSubstr("out of its range"));
  EXPECT_THAT(error({.key = "x", .dtype = i64}, R"({"x":1.0})"), HasSubstr("the number '1.0'"));
  EXPECT_THAT(error({.key = "x", .dtype = i64}, R"({"x":1e2})"), HasSubstr("the number '1e2'"));
  EXPECT_THAT(error({.key = "x", .dtype = u8}, R"({"x":-1})"), HasSubstr("the number '-1'"));
  EXPECT_THAT(error({.key = "x", .dtype = f32}, R"({"x":1e39})"), HasSubstr("out of its range"));
  EXPECT_THAT(error({.key = "x"}, R"({"y":1e400})"), HasSubstr("beyond float64"));
  EXPECT_THAT(error({.key = "x"}, R"({"x":1e9223372036854775807})"), HasSubstr("beyond float64"));
  EXPECT_THAT(one({.key = "x"}, R"({"x":1e-60})")->as<float>(), ElementsAre(0));
  EXPECT_THAT(one({.key = "x"}, R"({"x":0.01e-9223372036854775808})")->as<float>(), ElementsAre(0));
  EXPECT_THAT(one({.key = "x", .dtype = u64}, R"({"x":18446744073709551615})")->as<uint64_t>(),
              ElementsAre(UINT64_MAX));
}

TEST(JsonParser, RefusesWhatIsNoJsonAndNoObject) {
  for (const char* text :
       {"", "  ", "{", "{\"x\":}", "{\"x\":1,}", "{\"x\":01}", "{'x':1}", "{\"x\":1} {}", "{\"x\":NaN}", "{\"x\":1]",
        "{\"x\":\"\n\"}", "{\"x\":\"\xff\"}", "{\"x\":\"\\ud800\"}", "{\"x\":1 /*c*/}", "[1]", "1", "null", "\"x\""}) {
    EXPECT_THAT(error({.key = "x"}, text), HasSubstr("offset")) << text;
  }
  for (const std::string_view text :
       {std::string_view("{\"x\":1}\0{\"x\":2}", 15), std::string_view("{\"x\":1} \0", 9)}) {
    EXPECT_THAT(error({.key = "x"}, text), HasSubstr("something follows the object, at offset")) << text;
  }
  EXPECT_EQ(error({.key = "x"}, "[1]"), "JSON: an object expected, found something else, at offset 0");
  EXPECT_EQ(error({.key = "x"}, "{\"a\":1,\"x\":tru}"),
            "JSON: syntax error while parsing value - invalid literal, at offset 14");
  EXPECT_LT(error({.key = "x"}, "{\"x\":\"" + std::string(10'000, 'y')).size(), 300U);
}

TEST(JsonParser, RefusesTextsThatAreTooDeepOrTooLong) {
  const auto deep = [](size_t levels) {
    return "{\"y\":" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + ",\"x\":1}";
  };
  const JsonParser parser({{.key = "x"}}, {.max_bytes = 100'000, .max_depth = 10});
  EXPECT_TRUE(parser.parse(deep(10)));
  EXPECT_EQ(parser.parse(deep(11)).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(parser.parse(deep(11)).error().message(), "JSON: more than 10 levels, at offset 14");
  EXPECT_EQ(parser.parse(deep(40'000)).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(parser.parse(deep(60'000)).error().message(), "JSON: 120010 bytes, at most 100000");
}

TEST(JsonParser, RefusesFieldsThatContradictThemselves) {
  const auto refused = [](std::vector<JsonField> fields) { EXPECT_THROW(JsonParser(std::move(fields)), Exception); };
  refused({{.key = "x"}, {.key = "x"}});
  refused({{.key = "x", .dtype = f16}});
  refused({{.key = "x", .shape = {2, kUnknown}}});
  refused({{.key = "x", .shape = {INT64_MAX, 2}}});
  refused({{.key = "x", .shape = Shape(std::vector<int64_t>(33, 1))}});
  refused({{.key = "x", .default_value = Tensor::scalar(1.0)}});
  refused({{.key = "x", .shape = {kUnknown}, .default_value = Tensor::scalar(1.0F)}});
  refused({{.key = "x", .shape = {2}, .default_value = Tensor::from<float>(std::array{1.0F}, {1})}});
}

TEST(JsonParser, WithoutMemoryIsAnError) {
  SKIP_UNLESS_MEMORY_CAN_BE_LIMITED();
  std::string text = "{\"x\":[1";
  for (int i = 0; i < 12'000'000; ++i) text += ",1";
  text += "]}";
  EXPECT_OUT_OF_MEMORY([&] { return JsonParser({{.key = "x", .dtype = f64, .shape = {kUnknown}}}).parse(text); });
}

TEST(JsonParser, ManyThreadsShareOne) {
  const JsonParser parser({{.key = "x", .dtype = i64}});
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&parser, t] {
      for (int i = 0; i < 1000; ++i) {
        const auto got = parser.parse("{\"x\":" + std::to_string(1000 * t + i) + "}");
        EXPECT_EQ(got.value()[0].as<int64_t>()[0], 1000 * t + i);
      }
    });
  }
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// The fast parser reads what the other one reads.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <iterator>
#include <sstream>
#include <string>

#include "headpond/base/random.h"
#include "headpond/io/text/json/json_fast_internal.h"

namespace headpond::internal {
namespace {

// As far as the fast parser was certain.
bool is_fast(const std::vector<JsonField>& fields, std::string_view text, uint64_t max_depth = 64) {
  KeyTable keys;
  std::vector<JsonValues> values;
  for (const JsonField& field : fields) {
    keys.add(field.key);
    values.emplace_back(field, nullptr);
  }
  return read_json_fast(text, keys, max_depth, values);
}

std::string text_of(const Result<std::vector<Tensor>>& got) {
  if (!got) return "!" + got.error().to_string();
  std::string text;
  for (const Tensor& tensor : *got) {
    text += fmt::format("{}{}:", name(tensor.dtype()), tensor.shape().to_string());
    text.append(reinterpret_cast<const char*>(tensor.data()), tensor.byte_size());
  }
  return text;
}

void expect_same(const std::vector<JsonField>& fields, std::string_view text, const JsonLimits& limits = {}) {
  const JsonParser parser(fields, limits);
  EXPECT_EQ(text_of(parser.parse(text)), text_of(parse_json_plainly(parser, text))) << text;
}

TEST(JsonFast, IsCertainOfUsualTexts) {
  const std::vector<JsonField> fields = {{.key = "i", .dtype = i64},
                                         {.key = "u", .dtype = u8},
                                         {.key = "f"},
                                         {.key = "d", .dtype = f64, .shape = {kUnknown, 2}},
                                         {.key = "s", .dtype = bytes},
                                         {.key = "b", .dtype = boolean}};
  const std::string text =
      R"({"i":-7,"skipped":{"deep":[1,{"x":null}]},"u":255,"f":1.1,"d":[[0,1],[2.5,3e4]],"s":"a\n\u00e9","b":true})";
  EXPECT_TRUE(is_fast(fields, text));
  EXPECT_TRUE(is_fast(fields, "\xef\xbb\xbf" + text));
  expect_same(fields, text);
}

TEST(JsonFast, LeavesWhatItIsNotCertainOf) {
  const std::vector<JsonField> f = {{.key = "x"}};
  for (const char* unusual : {"-0", "-0.0", "1e-40", "1e39", "16777217.000000001", "\"x\"", "[1]", "null1", "{}"}) {
    EXPECT_FALSE(is_fast(f, fmt::format("{{\"x\":{}}}", unusual))) << unusual;
  }
  EXPECT_FALSE(is_fast(f, R"({"x":1,"y":"\ud83d"})"));
  EXPECT_TRUE(is_fast(f, R"({"x":1,"y":"\ud83d\ude00\\ud83d"})")) << "control: a pair";
  EXPECT_FALSE(is_fast(f, R"({"x":1,"y":18446744073709551616})"));
  EXPECT_FALSE(is_fast(f, "{\"x\":1,\"y\":\"" + std::string(256 << 10, 'y') + "\"}"));
  EXPECT_TRUE(is_fast(f, R"({"x":1,"y":"\u00e9"})")) << "control";
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

constexpr const char* kNumbers = R"(0 -0 0.0 -0.0 1 -1 127 128 -128 -129 255 256 65535 65536 2147483647 2147483648
  4294967295 4294967296 9007199254740993 9223372036854775807 9223372036854775808 -9223372036854775808
  -9223372036854775809 18446744073709551615 18446744073709551616 99999999999999999999 16777217 16777217.0
  16777217.000000001 16777216.999999999999999999 1.00000005960464477540 1.0000000596046447754 0.1 1e0 1E+2 1e-400
  -1e-400 1e400 1e-310 2.2250738585072011e-308 4.9e-324 2.4e-324 1e-45 7e-46 1.17549435e-38 1.1754943e-38 3.4028235e38
  3.4028236e38 3.40282356779733661637539395458142568447e38 01 1. .5 +1 - 1e 0x1 NaN Infinity 1e9223372036854775808
  true false null "1" [] {})";

// Each dtype meets each of these, also where it is skipped.
TEST(JsonFast, ReadsNumbersAsTheOther) {
  for (const std::string& number : words_of(kNumbers)) {
    for (const DType dtype : {i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, boolean, bytes}) {
      expect_same({{.key = "x", .dtype = dtype}}, fmt::format("{{\"x\":{}}}", number));
      expect_same({{.key = "x", .dtype = dtype, .shape = {kUnknown}}}, fmt::format("{{\"x\":[{},0]}}", number));
    }
    expect_same({{.key = "y", .default_value = Tensor::scalar(1.0F)}}, fmt::format("{{\"x\":[{}]}}", number));
  }
}

TEST(JsonFast, RoundsFloatsOnce) {
  Random random(RandomKey{3}, 0);
  for (int i = 0; i < 3'000; ++i) {
    const auto bits = static_cast<uint32_t>(random.u64());
    const float below = std::bit_cast<float>(bits & 0x7f7fffff), above = std::nextafter(below, 1e38F);
    const double middle = (static_cast<double>(below) + static_cast<double>(above)) / 2;
    const double near = std::nextafter(middle, i % 2 == 0 ? 0 : 1e300);
    for (const double value : {middle, near}) {
      const std::string text = fmt::format("{{\"x\":{:.{}e}}}", value, 17 + i % 8);
      expect_same({{.key = "x"}}, text);
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(JsonFast, ReadsTextsAsTheOther) {
  const std::vector<JsonField> fields = {{.key = "s", .dtype = bytes, .default_value = Tensor::scalar("none")}};
  for (const char* text : {R"("")",
                           R"("\"\\\/\b\f\n\r\t")",
                           R"("\u0000")",
                           R"("\u00e9\u20ac")",
                           R"("\ud83d\ude00")",
                           R"("\uD83D\uDE00")",
                           R"("\ud83d")",
                           R"("\udc00")",
                           R"("\ud83d\u0041")",
                           R"("\ude00\ud83d")",
                           R"("\ud83d\ud83d\ude00")",
                           R"("\ud83d\\ude00")",
                           R"("\\\ud83d\ude00")",
                           R"("\ud83d\ude0")",
                           R"("\\ud83d")",
                           R"("\u12")",
                           R"("\x")",
                           "\"\xc3\xa9\"",
                           "\"\xc3\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xf4\x90\x80\x80\"",
                           "\"\x7f\"",
                           "\"\x1f\"",
                           "\"\t\"",
                           "\"a",
                           "'a'"}) {
    for (const char* key : {"s", "other"}) {
      expect_same(fields, fmt::format("{{\"{}\":{}}}", key, text));
      expect_same(fields, fmt::format("{{{}:1}}", text));
    }
  }
  expect_same(fields, R"({"s":"a","s":"b"})");
  expect_same(fields, R"({"\u0073":"escaped"})");
  expect_same(fields, R"({"s":1,"s":"b"})");
}

const std::vector<JsonField> kDefaulted = {{.key = "x", .default_value = Tensor::scalar(1.0F)}};

TEST(JsonFast, RefusesWhatTheOtherRefuses) {
  for (const std::string& text : words_of(R"({ {} {}, {}{} [{}] 1 null {"x":1,} {,} {"x"} {"x":} {x:1} {"x":1] {"x":1}x
       /**/{} {"x":1"y":2} {"":1} {"x":tru})")) {
    expect_same(kDefaulted, text);
    expect_same(kDefaulted, "\xef\xbb\xbf" + text);
    for (const char* byte : {" ", "\n", "\v", "\f", "\xef"}) expect_same(kDefaulted, byte + text + byte);
  }
  expect_same(kDefaulted, "");
  expect_same(kDefaulted, "{\"x\":1 2}");
  expect_same(kDefaulted, std::string_view("{}\0", 3));
  expect_same(kDefaulted, std::string_view("{\"x\":\0}", 7));
}

TEST(JsonFast, HasTheDepthOfTheOther) {
  std::string objects = "1";
  for (size_t levels = 1; levels < 14; ++levels) {
    objects = "{\"a\":" + objects + "}";
    const std::string arrays = std::string(levels, '[') + std::string(levels, ']');
    for (const uint64_t most : {0, 1, 2, 8, 9, 10}) {
      expect_same(kDefaulted, "{\"y\":" + arrays + "}", {.max_depth = most});
      expect_same(kDefaulted, objects, {.max_depth = most});
    }
  }
}

// Texts of one kind, with bytes changed at random.
TEST(JsonFast, HasTheVerdictOfTheOther) {
  const std::vector<JsonField> fields = {
      {.key = "a", .dtype = i32, .default_value = Tensor::scalar(int32_t{1})},
      {.key = "b", .dtype = f32, .shape = {kUnknown}, .default_value = Tensor::from<float>({}, {0})},
      {.key = "c", .dtype = bytes, .default_value = Tensor::scalar("d")}};
  const std::string good = R"({"a":-12,"b":[1,2.5e1,0.1],"c":"x\u00e9\n","d":{"e":[null,true,{"f":"\\"}]}})";
  constexpr std::string_view kBytes = "{}[],:\"\\0123456789-+.eEutrfalsn \n\x80\xc3\xed";
  Random random(RandomKey{4}, 0);
  for (int i = 0; i < 3'000; ++i) {
    std::string text = good;
    for (uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
      const size_t at = random.below(text.size());
      const char byte = kBytes[random.below(kBytes.size())];
      const uint64_t how = random.below(3);
      if (how == 0) text[at] = byte;
      if (how == 1) text.insert(at, 1, byte);
      if (how == 2) text.erase(at, 1 + random.below(3));
    }
    expect_same(fields, text);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace headpond::internal

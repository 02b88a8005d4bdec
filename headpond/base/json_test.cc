// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "headpond/base/random.h"
#include "headpond/base/status.h"

namespace headpond {
namespace {

using nlohmann::json;

std::string written(auto value) { return std::string(JsonWriter().value(value).text()); }

TEST(JsonWriter, WritesTheExampleOfItsHeader) {
  JsonWriter writer;
  writer.begin_object().key("steps").value(6).key("losses").begin_array().value(0.5).value(0.25).end_array();
  EXPECT_FALSE(writer.complete());
  writer.end_object();
  EXPECT_TRUE(writer.complete());
  EXPECT_EQ(writer.text(), R"({"steps":6,"losses":[0.5,0.25]})");
}

TEST(JsonWriter, NestsAndReadsBack) {
  for (const JsonLayout layout : {JsonLayout::Compact, JsonLayout::Indented}) {
    JsonWriter writer(JsonNonFinite::AsString, layout);
    writer.begin_array().begin_object().end_object().begin_array().end_array();
    writer.begin_object().member("a", nullptr).member("b", true).key("c").begin_array().value(false).value("x");
    writer.begin_object().member("d", std::string("y")).end_object().end_array().member("", -1).end_object();
    writer.raw(R"({"ready":1})").end_array();
    EXPECT_EQ(json::parse(writer.text()),
              json::parse(R"([{},[],{"a":null,"b":true,"c":[false,"x",{"d":"y"}],"":-1},{"ready":1}])"));
  }
}

TEST(JsonWriter, IndentsByTwoAndKeepsEmptyBracketsTogether) {
  JsonWriter writer(JsonNonFinite::AsString, JsonLayout::Indented);
  writer.begin_object().key("a").begin_array().value(1).value(2).end_array().key("b").begin_object().end_object();
  writer.end_object();
  EXPECT_EQ(writer.text(), "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}");
}

TEST(JsonWriter, EscapesWhatJsonDoesNotAllowAndNothingElse) {
  EXPECT_EQ(written("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(written("\b\f\n\r\t\x01\x1f\x7f"), "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
  EXPECT_EQ(written(std::string_view("a\0b", 3)), R"("a\u0000b")");
  EXPECT_EQ(written("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x92\xa7"), "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x92\xa7\"");
}

TEST(JsonWriter, EveryAsciiStringReadsBack) {
  for (int a = 0; a < 128; ++a)
    for (int b = 0; b < 128; ++b) {
      const std::string text{static_cast<char>(a), static_cast<char>(b)};
      ASSERT_EQ(json::parse(written(text)).get<std::string>(), text);
    }
}

TEST(JsonWriter, ReplacesEachByteThatIsNotUtf8) {
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(written("\xff"), "\"" + bad + "\"");
  EXPECT_EQ(written("a\x80z"), "\"a" + bad + "z\"");
  EXPECT_EQ(written("\xc0\xaf"), "\"" + bad + bad + "\"");                      // overlong
  EXPECT_EQ(written("\xe0\x80\x80"), "\"" + bad + bad + bad + "\"");            // overlong
  EXPECT_EQ(written("\xed\xa0\x80"), "\"" + bad + bad + bad + "\"");            // surrogate
  EXPECT_EQ(written("\xf4\x90\x80\x80"), "\"" + bad + bad + bad + bad + "\"");  // above U+10FFFF
  EXPECT_EQ(written("\xe2\x82"), "\"" + bad + bad + "\"");                      // cut
  EXPECT_EQ(written("\xc3("), "\"" + bad + "(\"");
}

TEST(JsonWriter, AnyBytesGiveAValidDocument) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (uint64_t i = random.below(12); i > 0; --i) {
      const uint32_t word = random.u32();
      text.push_back(static_cast<char>((word & 0x300) == 0 ? word : word | 0x80));
    }
    JsonWriter writer;
    writer.begin_object().member(text, text).end_object();
    ASSERT_TRUE(json::accept(writer.text())) << writer.text();
  }
}

TEST(JsonWriter, ControlTheReaderRefusesBadBytesThatAreNotReplaced) { EXPECT_FALSE(json::accept("\"\xff\"")); }

TEST(JsonWriter, WritesIntegersExactly) {
  EXPECT_EQ(written(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(written(std::numeric_limits<int64_t>::max()), "9223372036854775807");
  EXPECT_EQ(written(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(written((uint64_t{1} << 53) + 1), "9007199254740993");
  EXPECT_EQ(written(uint8_t{200}), "200");
  EXPECT_EQ(written(int8_t{-5}), "-5");
  EXPECT_EQ(written(size_t{7}), "7");
}

TEST(JsonWriter, WritesTheShortestNumberThatReadsBack) {
  EXPECT_EQ(written(0.1), "0.1");
  EXPECT_EQ(written(0.1F), "0.1");
  EXPECT_EQ(written(0.0), "0");
  EXPECT_EQ(written(-0.0), "-0");
  EXPECT_EQ(written(1e300), "1e+300");
  EXPECT_EQ(written(5e-324), "5e-324");
  Random random(2);
  for (int round = 0; round < 20000; ++round) {
    const auto number = std::bit_cast<double>(random.u64());
    if (!std::isfinite(number)) continue;
    ASSERT_EQ(std::bit_cast<uint64_t>(json::parse(written(number)).get<double>()), std::bit_cast<uint64_t>(number));
  }
}

TEST(JsonWriter, SpellsNumbersThatJsonLacks) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(written(std::nan("")), R"("NaN")");
  EXPECT_EQ(written(kInfinity), R"("Infinity")");
  EXPECT_EQ(written(-std::numeric_limits<float>::infinity()), R"("-Infinity")");
  JsonWriter writer(JsonNonFinite::AsNull);
  writer.begin_array().value(std::nan("")).value(kInfinity).value(-kInfinity).end_array();
  EXPECT_EQ(writer.text(), "[null,null,null]");
}

TEST(JsonWriter, CanBeTakenInPieces) {
  JsonWriter writer;
  writer.begin_array();
  std::string all;
  for (int i = 0; i < 5; ++i) {
    writer.value(i);
    all += writer.take();
    EXPECT_EQ(writer.text(), "");
  }
  all += writer.end_array().take();
  EXPECT_EQ(all, "[0,1,2,3,4]");
  EXPECT_TRUE(writer.complete());
}

TEST(JsonWriter, RefusesCallsOutOfTurn) {
  EXPECT_THROW(JsonWriter().begin_object().value(1), Exception);
  EXPECT_THROW(JsonWriter().begin_object().key("a").key("b"), Exception);
  EXPECT_THROW(JsonWriter().begin_object().key("a").end_object(), Exception);
  EXPECT_THROW(JsonWriter().begin_array().key("a"), Exception);
  EXPECT_THROW(JsonWriter().begin_array().end_object(), Exception);
  EXPECT_THROW(JsonWriter().end_array(), Exception);
  EXPECT_THROW(JsonWriter().key("a"), Exception);
  EXPECT_THROW(JsonWriter().value(1).value(2), Exception);
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "headpond/io/text/number_text_internal.h"

namespace headpond::internal {
namespace {

constexpr NumberFault kNone = NumberFault::none, kNot = NumberFault::not_a_number, kRange = NumberFault::out_of_range;

template <class T>
struct Case {
  std::string text;
  NumberFault fault;
  T value;
};

template <class T>
void check(const std::vector<Case<T>>& cases) {
  for (const auto& [text, fault, value] : cases) {
    T got = 7;
    EXPECT_EQ(read_number(text, got), fault) << text;
    if (fault == kNone) {
      EXPECT_EQ(got, value) << text;
    }
  }
}

TEST(NumberText, ReadsWholeIntegersOnly) {
  check<int32_t>({{"12", kNone, 12},
                  {"-012", kNone, -12},
                  {"+3", kNone, 3},
                  {"2147483647", kNone, INT32_MAX},
                  {"2147483648", kRange, 0},
                  {"-2147483649", kRange, 0},
                  {"", kNot, 0},
                  {"+", kNot, 0},
                  {"+-3", kNot, 0},
                  {"++3", kNot, 0},
                  {"1.0", kNot, 0},
                  {"1e3", kNot, 0},
                  {"0x10", kNot, 0},
                  {"1 ", kNot, 0},
                  {" 1", kNot, 0},
                  {"99999999999999999999x", kNot, 0}});
  check<uint8_t>({{"255", kNone, 255}, {"256", kRange, 0}, {"-1", kNot, 0}});
}

TEST(NumberText, ReadsFloatsWithoutALocaleAndRoundsOnce) {
  check<float>({{"0.1", kNone, 0.1F},
                {"-1.5e3", kNone, -1500},
                {".5", kNone, 0.5F},
                {"5.", kNone, 5},
                {"inf", kNone, INFINITY},
                {"-Infinity", kNone, -INFINITY},
                // Rounded to double first, this one would be 16777216.
                {"16777217.0000000001", kNone, 16777218},
                {"1,5", kNot, 0},
                {"1e", kNot, 0},
                {"0x1p3", kNot, 0}});
  float nan = 0;
  EXPECT_EQ(read_number("nan", nan), kNone);
  EXPECT_TRUE(std::isnan(nan));
}

TEST(NumberText, ATooLargeFloatIsOutOfRangeAndATooSmallOneIsZero) {
  check<float>({{"3.5e38", kRange, 0},
                {"-1e39", kRange, 0},
                {"1e99999999999999999999", kRange, 0},
                {"1e9223372036854775807", kRange, 0},
                {"1e-46", kNone, 0},
                {"0.01e-9223372036854775808", kNone, 0},
                {"-1e-99999999999999999999", kNone, 0},
                {"0.000" + std::string(60, '0') + "1", kNone, 0},
                {"1" + std::string(60, '0'), kRange, 0},
                {"1" + std::string(60, '0') + "e-200", kNone, 0},
                {"0." + std::string(60, '0') + "1e200", kRange, 0}});
  check<double>({{"1e309", kRange, 0}, {"1e-400", kNone, 0}, {"3.5e38", kNone, 3.5e38}});
}

TEST(NumberText, WritesEachDtypeAtAnyAlignment) {
  std::array<std::byte, 16> room;
  const auto read = [&room](DType dtype, std::string_view text) { return read_number_as(dtype, text, &room[1]); };
  for (const DType dtype : {u8, i8, u16, i16, u32, i32, u64, i64, f32, f64}) {
    EXPECT_TRUE(is_written_as_number(dtype));
    room.fill(std::byte{0xff});
    EXPECT_EQ(read(dtype, "0"), kNone);
    for (size_t i = 1; i < 9; ++i) EXPECT_EQ(room[i], i <= item_size(dtype) ? std::byte{0} : std::byte{0xff});
    EXPECT_EQ(read(dtype, "x"), kNot);
  }
  for (const DType dtype : {f16, bf16, bytes}) {
    EXPECT_FALSE(is_written_as_number(dtype));
    EXPECT_EQ(read(dtype, "0"), kNot);
  }
}

TEST(NumberText, ABooleanIsOneOfFourWords) {
  std::byte room{7};
  for (const char* yes : {"1", "true", "True", "TRUE"}) {
    EXPECT_EQ(read_number_as(boolean, yes, &room), kNone);
    EXPECT_EQ(room, std::byte{1});
  }
  for (const char* no : {"0", "false", "False", "fALSE"}) {
    EXPECT_EQ(read_number_as(boolean, no, &room), kNone);
    EXPECT_EQ(room, std::byte{0});
  }
  for (const char* text : {"", "2", "yes", "truer", "tru", "+1"}) EXPECT_EQ(read_number_as(boolean, text, &room), kNot);
}

}  // namespace
}  // namespace headpond::internal

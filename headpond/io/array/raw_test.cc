// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/array/raw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error(const RawDecoder& decoder, std::string_view raw) {
  const auto tensor = decoder.decode(raw);
  if (tensor) return "no error";
  EXPECT_EQ(tensor.error().kind(), ErrorKind::InvalidArgument);
  return tensor.error().message();
}

std::string refusal(DType dtype, const RawOptions& options = {}) {
  try {
    const RawDecoder decoder(dtype, options);
  } catch (const Exception& error) {
    return error.error().message();
  }
  return "";
}

TEST(RawDecoder, ReadsNumbersInEitherByteOrder) {
  const std::string_view raw("\1\2\3\4\5\6\7\x88", 8);
  EXPECT_THAT(RawDecoder(u8).decode(raw)->as<uint8_t>(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 0x88));
  EXPECT_THAT(RawDecoder(u16).decode(raw)->as<uint16_t>(), ElementsAre(0x201, 0x403, 0x605, 0x8807));
  EXPECT_THAT(RawDecoder(u16, {.little_endian = false}).decode(raw)->as<uint16_t>(),
              ElementsAre(0x102, 0x304, 0x506, 0x788));
  EXPECT_THAT(RawDecoder(u32, {.little_endian = false}).decode(raw)->as<uint32_t>(),
              ElementsAre(0x1020304U, 0x5060788U));
  EXPECT_THAT(RawDecoder(i8, {.little_endian = false}).decode(raw.substr(7))->as<int8_t>(), ElementsAre(-120));
  EXPECT_THAT(RawDecoder(i64, {.little_endian = false}).decode(raw)->as<int64_t>(), ElementsAre(0x102030405060788));
}

TEST(RawDecoder, ReadsEveryDTypeOfFixedSize) {
  for (const DType dtype : {boolean, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64}) {
    const RawDecoder decoder(dtype);
    const std::string raw(3 * item_size(dtype), '\0');
    EXPECT_TRUE(decoder.decode(raw)->has_shape({3}));
    EXPECT_TRUE(decoder.decode("")->has_shape({0}));
    if (item_size(dtype) > 1) {
      EXPECT_THAT(error(decoder, raw + "x"), HasSubstr("a multiple of")) << name(dtype);
    }
  }
}

TEST(RawDecoder, ShapesItsResult) {
  const RawDecoder pairs(u8, {.shape = {kUnknown, 2}}), square(i16, {.shape = {2, 2}}), scalar(f32, {.shape = {}});
  EXPECT_TRUE(pairs.decode("abcdef")->has_shape({3, 2}));
  EXPECT_EQ(error(pairs, "abc"), "uint8[?,2]: a multiple of 2 bytes expected, 3 found");
  EXPECT_TRUE(square.decode("abcdefgh")->has_shape({2, 2}));
  EXPECT_EQ(error(square, "abcdef"), "int16[2,2]: 8 bytes expected, 6 found");
  EXPECT_TRUE(scalar.decode("abcd")->has_shape({}));
  EXPECT_EQ(RawDecoder(i32, {.little_endian = false}).describe(), "int32[?], big-endian");
  EXPECT_TRUE(RawDecoder(u8, {.shape = {0, 3}}).decode("")->has_shape({0, 3}));
}

TEST(RawDecoder, RefusesBooleansThatAreNone) {
  EXPECT_THAT(RawDecoder(boolean).decode(std::string_view("\0\1", 2))->as<bool>(), ElementsAre(false, true));
  EXPECT_EQ(error(RawDecoder(boolean), std::string_view("\0\2", 2)), "bool[?]: a boolean is 02, at offset 1");
}

TEST(RawDecoder, RefusesWhatItCannotDecode) {
  EXPECT_THAT(refusal(bytes), HasSubstr("not to bytes"));
  EXPECT_THAT(refusal(u8, {.shape = {2, kUnknown}}), HasSubstr("[2,?]"));
  EXPECT_THAT(refusal(u8, {.shape = {kUnknown, 0}}), HasSubstr("[?,0]"));
  EXPECT_THAT(refusal(i64, {.shape = {int64_t{1} << 61}}), HasSubstr("too large"));
}

}  // namespace
}  // namespace headpond

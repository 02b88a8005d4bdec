// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/codec/image/formats/formats_test_internal.h"

namespace headpond {
namespace {

using test::bytes_of;
using test::error_of;
using test::values_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of_pnm(const char* header, std::string_view pixels) {
  return std::string(header) + std::string(pixels);
}

TEST(Pnm, IsGreyOrRgb) {
  EXPECT_THAT(values_of("P5 2 1 255\n\x01\x02"), ElementsAre(1, 2));
  EXPECT_THAT(values_of("P6\n1\t1\r255 abc"), ElementsAre('a', 'b', 'c'));
  EXPECT_THAT(values_of("P5 1 1 255 a", {.channels = 4}), ElementsAre('a', 'a', 'a', 255));
}

TEST(Pnm, MayHaveComments) {
  const std::string file = "P5# one\n# two\r 2 # three\n1\n255\n#a";
  EXPECT_THAT(values_of(file), ElementsAre('#', 'a'));
}

TEST(Pnm, OfAnotherWhiteIsScaledToTheNearest) {
  EXPECT_THAT(values_of(text_of_pnm("P5 4 1 15 ", std::string_view("\0\1\7\17", 4))), ElementsAre(0, 17, 119, 255));
  EXPECT_THAT(values_of(text_of_pnm("P5 3 1 2 ", std::string_view("\1\2\3", 3))), ElementsAre(128, 255, 255));
}

TEST(Pnm, OfLargeValuesHasSixteenBitsBigEndian) {
  const std::string file = text_of_pnm("P5 2 1 65535\n", std::string_view("\x12\x34\xff\x80", 4));
  EXPECT_EQ(image_info(bytes_of(file), file.size())->bits, 16);
  EXPECT_THAT(values_of(file), ElementsAre(0x12, 0xff));
  const auto wide = decode_image(bytes_of(file), {.dtype = DType::u16});
  EXPECT_THAT(wide->pixels.as<uint16_t>(), ElementsAre(0x1234, 0xff80));
  const std::string odd = text_of_pnm("P5 1 1 256\n", std::string_view("\1\0", 2));
  EXPECT_THAT(decode_image(bytes_of(odd), {.dtype = DType::u16})->pixels.as<uint16_t>(), ElementsAre(65535));
}

TEST(Pnm, OfAnotherKindIsNamed) {
  for (const char* const kind : {"P1", "P2", "P3", "P4", "P7"}) {
    EXPECT_THAT(error_of(kind + std::string(" 1 1 255 a")), HasSubstr(std::string("Unimplemented: image: a ") + kind));
  }
}

TEST(Pnm, IsRefusedIfANumberIsWrong) {
  EXPECT_THAT(error_of("P5 0 1 255 a"), HasSubstr("width at offset 3"));
  EXPECT_THAT(error_of("P5 x"), HasSubstr("width"));
  EXPECT_THAT(error_of("P5 1 1 65536 a"), HasSubstr("largest value at offset 7"));
  EXPECT_THAT(error_of("P5 99999999999999999999999999 1 255 a"), HasSubstr("width"));
  EXPECT_THAT(error_of("P5 1 1 255"), HasSubstr("DataLoss"));
  EXPECT_THAT(error_of("P5 " + std::string(5000, ' ') + "1 1 255 a"), HasSubstr("first 4096 bytes"));
}

TEST(Pnm, OfSidesThatOverflowIsRefusedBeforeMemoryIsTaken) {
  EXPECT_THAT(error_of("P6 2147483647 2147483647 65535 a"), HasSubstr("DataLoss"));
  EXPECT_THAT(error_of("P5 2 2 255 abcd", {.max_pixels = 3}), HasSubstr("ResourceExhausted"));
}

TEST(Pnm, CutAnywhereIsAnError) {
  const std::string file = "P6 #c\n2 1 255\nabcdef";
  for (size_t size = 0; size < file.size(); ++size) EXPECT_EQ(test::fault_of_cut(file, size), "") << size;
  EXPECT_GT(test::flip_bits(file, 500), 0);
}

}  // namespace
}  // namespace headpond

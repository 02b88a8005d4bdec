// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/codec/image/formats/formats_test_internal.h"

namespace headpond {
namespace {

using test::BmpOf;
using test::bytes_of;
using test::error_of;
using test::little;
using test::values_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// 2 x 2: the lower row first, blue first, padded to 4 bytes.
const std::string kRows24("\1\2\3\4\5\6\0\0\7\10\11\12\13\14\0\0", 16);

TEST(Bmp, HasItsLowestRowFirstAndBlueBeforeRed) {
  const std::string file = BmpOf{.rows = kRows24}.file();
  EXPECT_EQ(*image_info(bytes_of(file), file.size()),
            (ImageInfo{.format = ImageFormat::bmp, .height = 2, .width = 2, .channels = 3}));
  EXPECT_THAT(values_of(file), ElementsAre(9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4));
}

TEST(Bmp, OfNegativeHeightHasItsHighestRowFirst) {
  EXPECT_THAT(values_of(BmpOf{.height = -2, .rows = kRows24}.file()),
              ElementsAre(3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10));
}

TEST(Bmp, OfOneFourAndEightBitsHasAPalette) {
  const std::vector<uint32_t> palette = {0x010203, 0x0a0b0c};
  EXPECT_THAT(values_of(BmpOf{.height = 1, .bits = 1, .palette = palette, .rows = little(0x40, 4)}.file()),
              ElementsAre(1, 2, 3, 10, 11, 12));
  EXPECT_THAT(values_of(BmpOf{.height = 1, .bits = 4, .palette = palette, .rows = little(0x10, 4)}.file()),
              ElementsAre(10, 11, 12, 1, 2, 3));
  EXPECT_THAT(values_of(BmpOf{.height = 1, .bits = 8, .palette = palette, .rows = little(0x0001, 4)}.file()),
              ElementsAre(10, 11, 12, 1, 2, 3));
}

TEST(Bmp, IsBlackWhereAnIndexIsAfterThePalette) {
  EXPECT_THAT(values_of(BmpOf{.height = 1, .bits = 8, .palette = {0x010203}, .rows = little(0x00ff, 4)}.file()),
              ElementsAre(0, 0, 0, 1, 2, 3));
}

TEST(Bmp, OfSixteenAndThirtyTwoBitsHasFieldsOfBits) {
  EXPECT_THAT(values_of(BmpOf{.height = 1, .bits = 16, .rows = little(0x03e07c01, 4)}.file()),
              ElementsAre(255, 0, 8, 0, 255, 0));  // 5 bits each.
  EXPECT_THAT(values_of(BmpOf{.width = 1,
                              .height = 1,
                              .bits = 16,
                              .compression = 3,
                              .masks = {0xf800, 0x07e0, 0x001f},
                              .rows = little(0x0020, 4)}
                            .file()),
              ElementsAre(0, 4, 0));  // 1 of 63, rounded down.
  EXPECT_THAT(values_of(BmpOf{.width = 1, .height = 1, .bits = 32, .rows = little(0xff010203, 4)}.file()),
              ElementsAre(1, 2, 3));
}

TEST(Bmp, HasAlphaIffItsHeaderHasAFieldForIt) {
  const BmpOf with = {.width = 1,
                      .height = 1,
                      .bits = 32,
                      .compression = 3,
                      .masks = {0xff, 0xff00, 0xff0000, 0xff000000},
                      .rows = little(0x80030201, 4)};
  EXPECT_THAT(values_of(with.file()), ElementsAre(1, 2, 3, 128));
  EXPECT_THAT(values_of(with.file(), {.channels = 3}), ElementsAre(1, 2, 3));
  EXPECT_THAT(values_of(BmpOf{.width = 1, .height = 1, .bits = 32, .rows = little(1, 4)}.file(), {.channels = 4}),
              ElementsAre(0, 0, 1, 255));
}

TEST(Bmp, OfOs2HasAPaletteOfThreeBytes) {
  const std::string file = "BM" + little(34, 4) + little(0, 4) + little(32, 4) + little(12, 4) + little(1, 2) +
                           little(1, 2) + little(1, 2) + little(1, 2) + std::string("\1\2\3\4\5\6", 6) +
                           little(0x80, 4);
  EXPECT_THAT(values_of(file), ElementsAre(6, 5, 4));
}

TEST(Bmp, OfARareFormIsNamed) {
  EXPECT_THAT(error_of(BmpOf{.bits = 8, .compression = 1}.file()),
              HasSubstr("Unimplemented: image: a run-length coded bitmap"));
  EXPECT_THAT(error_of(BmpOf{.bits = 0, .compression = 4}.file()), HasSubstr("contains a JPEG"));
}

TEST(Bmp, IsRefusedIfItsHeaderIsWrong) {
  EXPECT_THAT(error_of(BmpOf{.width = 0, .rows = kRows24}.file()), HasSubstr("0 x 2 pixels"));
  EXPECT_THAT(error_of(BmpOf{.width = -2, .rows = kRows24}.file()), HasSubstr("InvalidArgument"));
  EXPECT_THAT(error_of(BmpOf{.bits = 7, .rows = kRows24}.file()), HasSubstr("7 bits a pixel"));
  EXPECT_THAT(error_of(BmpOf{.compression = 9, .rows = kRows24}.file()), HasSubstr("compression 9"));
  EXPECT_THAT(error_of(BmpOf{.bits = 32, .compression = 3, .masks = {5, 8, 16}, .rows = kRows24}.file()),
              HasSubstr("bit field 0x5 at offset 54"));
  EXPECT_THAT(error_of(BmpOf{.bits = 32, .compression = 3, .masks = {3, 2, 16}, .rows = kRows24}.file()),
              HasSubstr("bit field 0x2 at offset 58"));
  std::string file = BmpOf{.rows = kRows24}.file();
  file[10] = 20;
  EXPECT_THAT(error_of(file), HasSubstr("pixels at offset 20"));
}

TEST(Bmp, OfSidesThatOverflowIsRefusedBeforeMemoryIsTaken) {
  EXPECT_THAT(error_of(BmpOf{.width = INT32_MAX, .height = INT32_MIN, .rows = kRows24}.file()), HasSubstr("DataLoss"));
  EXPECT_THAT(error_of(BmpOf{.width = INT32_MAX, .height = INT32_MAX, .rows = kRows24}.file()), HasSubstr("DataLoss"));
  EXPECT_THAT(error_of(BmpOf{.rows = kRows24}.file(), {.max_pixels = 3}), HasSubstr("more than the limit of 3"));
  EXPECT_THAT(error_of(BmpOf{.rows = kRows24}.file(), {.max_memory = 11}), HasSubstr("take 12 bytes"));
  EXPECT_THAT(values_of(BmpOf{.rows = kRows24}.file(), {.max_pixels = 4, .max_memory = 12}), SizeIs(12));
}

TEST(Bmp, CutAnywhereIsAnError) {
  const std::string file = BmpOf{.bits = 4, .palette = {1, 2, 3, 4}, .rows = std::string(8, '\x21')}.file();
  for (size_t size = 0; size < file.size(); ++size) EXPECT_EQ(test::fault_of_cut(file, size), "") << size;
}

TEST(Bmp, WithChangedBitsIsPixelsOrAnError) {
  EXPECT_GT(test::flip_bits(BmpOf{.bits = 4, .palette = {1, 2, 3, 4}, .rows = std::string(8, '\x21')}.file(), 500), 0);
  EXPECT_GT(test::flip_bits(BmpOf{.bits = 16, .compression = 3, .masks = {4, 2, 1}, .rows = kRows24}.file(), 500), 0);
}

}  // namespace
}  // namespace headpond

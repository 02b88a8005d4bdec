// SPDX-License-Identifier: Apache-2.0
// Checksums are of Pillow's pixels for files that it wrote.
#include <gmock/gmock.h>

#include "headpond/codec/image/formats/formats_test_internal.h"

namespace headpond {
namespace {

using test::bytes_of;
using test::error_of;
using test::GifOf;
using test::values_of;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kByPillow =
    "4749463839610700090082000098ea3c74c71b52a4bc3384d5e93e93cd18631766b572237e21f90401000002002c000000000700090000"
    "082c000d181810004001020305184438404080020512163c3880e0c2811319163488d120c500010e10d008606440003b";

TEST(Gif, HasThePixelsThatPillowFinds) {
  EXPECT_EQ(test::checksum_of(test::from_hex(kByPillow)), 0x17f93f16);
  EXPECT_THAT(values_of(GifOf{}.file()), ElementsAre(10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120));
}

TEST(Gif, HasAlphaIffAColourIsTransparent) {
  const std::string file = GifOf{.transparent = 2}.file();
  EXPECT_EQ(*image_info(bytes_of(file), file.size()),
            (ImageInfo{.format = ImageFormat::gif, .height = 2, .width = 2, .channels = 4}));
  EXPECT_THAT(values_of(file), ElementsAre(10, 20, 30, 255, 40, 50, 60, 255, 70, 80, 90, 0, 100, 110, 120, 255));
}

TEST(Gif, ShowsItsFirstFrameOnItsCanvas) {
  const GifOf small = {.width = 2, .height = 3, .x = 1, .y = 1, .frame_width = 1, .frame_height = 1, .indices = {3}};
  EXPECT_THAT(values_of(small.file(), {.channels = 1}), ElementsAre(18, 18, 18, 108, 18, 18));
  GifOf clear = small;
  clear.transparent = 3;
  EXPECT_THAT(values_of(clear.file(), {.channels = 2}), ElementsAre(108, 0, 108, 0, 108, 0, 108, 0, 108, 0, 108, 0));
}

TEST(Gif, GrowsItsCanvasToHoldTheFrame) {
  const std::string file = GifOf{.x = 1, .y = 2, .indices = {1, 1, 1, 1}}.file();
  const auto info = image_info(bytes_of(file), file.size());
  EXPECT_EQ(info->height, 4);
  EXPECT_EQ(info->width, 3);
  EXPECT_THAT(values_of(file, {.channels = 1}), ElementsAre(18, 18, 18, 18, 18, 18, 18, 48, 48, 18, 48, 48));
}

TEST(Gif, MayBeInterlaced) {
  // Stored: rows 0, 8, then 4, then 2, 6, then 1, 3, 5, 7.
  const GifOf rows = {.width = 1,
                      .height = 9,
                      .frame_width = 1,
                      .frame_height = 9,
                      .indices = {0, 0, 1, 2, 2, 3, 3, 3, 3},
                      .is_interlaced = true};
  EXPECT_THAT(values_of(rows.file(), {.channels = 1}), ElementsAre(18, 108, 78, 108, 48, 108, 78, 108, 18));
  const GifOf one = {
      .width = 1, .height = 1, .frame_width = 1, .frame_height = 1, .indices = {2}, .is_interlaced = true};
  EXPECT_THAT(values_of(one.file(), {.channels = 1}), ElementsAre(78));
}

TEST(Gif, TakesTheFramesPaletteThenTheFilesThenGrey) {
  EXPECT_THAT(values_of(GifOf{.local_palette = std::string("abcdefghijkl")}.file()),
              ElementsAre('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'));
  EXPECT_THAT(values_of(GifOf{.has_palette = false}.file(), {.channels = 1}), ElementsAre(0, 1, 2, 3));
}

TEST(Gif, WithoutAFrameOrOfAnotherVersionIsRefused) {
  EXPECT_THAT(error_of("GIF89a" + std::string("\1\0\1\0\0\0\0;", 8)),
              HasSubstr("no frame before the end at offset 13"));
  EXPECT_THAT(error_of("GIF88a" + std::string(8, '\0')), HasSubstr("another version"));
  EXPECT_THAT(error_of("GIF89a" + std::string("\1\0\1\0\0\0\0\5", 8)), HasSubstr("block 05 at offset 13"));
  EXPECT_THAT(error_of(GifOf{.frame_width = 0}.file()), HasSubstr("0 x 2 pixels"));
}

TEST(Gif, OfALargeCanvasIsRefusedBeforeMemoryIsTaken) {
  EXPECT_THAT(error_of(GifOf{.width = 65535, .height = 65535}.file()), HasSubstr("ResourceExhausted"));
  EXPECT_THAT(error_of(GifOf{.frame_width = 65535, .frame_height = 65535}.file()), HasSubstr("ResourceExhausted"));
}

TEST(Gif, WithTooFewDataIsDamaged) { EXPECT_THAT(error_of(GifOf{.indices = {1, 2, 3}}.file()), HasSubstr("DataLoss")); }

TEST(Gif, CutBeforeItsTrailerIsAnError) {
  const std::string file = test::from_hex(kByPillow);
  for (size_t size = 0; size + 1 < file.size(); ++size) EXPECT_EQ(test::fault_of_cut(file, size), "") << size;
  EXPECT_GT(test::flip_bits(file, 500), 0);
}

}  // namespace
}  // namespace headpond

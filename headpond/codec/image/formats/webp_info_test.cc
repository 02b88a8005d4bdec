// SPDX-License-Identifier: Apache-2.0
// The head alone, which needs no libwebp.
#include <gmock/gmock.h>

#include "headpond/codec/image/formats/formats_test_internal.h"
#include "headpond/codec/image/formats/webp_internal.h"

namespace headpond::image_internal {
namespace {

using test::little;

// A head without image data.
std::string webp_file(const std::string& chunks) { return "RIFF" + little(chunks.size() + 4, 4) + "WEBP" + chunks; }

Result<WebpLayout> webp_layout_of(const std::string& file) {
  return webp_layout({.head = test::bytes_of(file), .file_bytes = file.size(), .name = "webp"});
}

TEST(WebpLayout, KnowsTheSidesOfAllThreeForms) {
  const auto lossy = webp_layout_of(webp_file("VP8 " + little(10, 4) + little(0, 3) + "\x9d\x01\x2a" +
                                              little(0xc005, 2) + little(0x4007, 2)));  // The upper bits scale.
  EXPECT_EQ(lossy->width, 5);
  EXPECT_EQ(lossy->height, 7);
  const auto lossless =
      webp_layout_of(webp_file("VP8L" + little(10, 4) + "\x2f" + little(1U << 28 | 6U << 14 | 4U, 4) + little(0, 5)));
  EXPECT_EQ(lossless->width, 5);
  EXPECT_EQ(lossless->height, 7);
  EXPECT_TRUE(lossless->has_alpha);
  const auto extended = webp_layout_of(webp_file("VP8X" + little(10, 4) + little(0, 4) + little(4, 3) + little(6, 3)));
  EXPECT_EQ(extended->width, 5);
  EXPECT_EQ(extended->height, 7);
  EXPECT_FALSE(extended->has_alpha);
}

TEST(WebpLayout, RefusesWrongMarksAndEmptyImages) {
  EXPECT_FALSE(webp_layout_of(webp_file("VP8 " + little(10, 4) + little(0, 10))));
  EXPECT_FALSE(webp_layout_of(webp_file("VP8 " + little(10, 4) + little(0, 3) + "\x9d\x01\x2a" + little(0, 4))));
  EXPECT_FALSE(webp_layout_of(webp_file("VP8L" + little(10, 4) + little(0, 10))));
  EXPECT_FALSE(webp_layout_of("RIFX" + webp_file("VP8X" + little(10, 4) + little(0, 10)).substr(4)));
}

TEST(WebpLayout, FindsTheFirstFrameAfterOtherChunks) {
  const std::string canvas = "VP8X" + little(10, 4) + little(2, 4) + little(9, 3) + little(9, 3);
  const std::string frame =
      "ANMF" + little(16, 4) + little(1, 3) + little(2, 3) + little(3, 3) + little(4, 3) + little(0, 4);
  const auto layout = webp_layout_of(webp_file(canvas + "ICCP" + little(3, 4) + "abc" + little(0, 1) + frame));
  ASSERT_TRUE(layout) << layout.error().to_string();
  EXPECT_EQ(layout->x, 2);
  EXPECT_EQ(layout->y, 4);
  EXPECT_EQ(layout->frame_width, 4);
  EXPECT_EQ(layout->frame_height, 5);
  const auto without = webp_layout_of(webp_file(canvas + "ICCP" + little(3, 4) + "abc"));
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().message(), testing::HasSubstr("without a whole frame"));
  EXPECT_FALSE(webp_layout_of(webp_file(canvas + "ANMF" + little(15, 4) + little(0, 15))));
}

}  // namespace
}  // namespace headpond::image_internal

// SPDX-License-Identifier: Apache-2.0
// The head alone, which needs no giflib.
#include <gtest/gtest.h>

#include "headpond/codec/image/formats/formats_test_internal.h"
#include "headpond/codec/image/formats/gif_internal.h"

namespace headpond::image_internal {
namespace {

using test::GifOf;

Result<GifLayout> gif_layout_of(const std::string& file) {
  return gif_layout({.head = test::bytes_of(file), .file_bytes = file.size()});
}

TEST(GifLayout, HasFrameAndCanvas) {
  const auto layout = gif_layout_of(GifOf{.width = 9, .height = 1, .x = 3, .y = 5, .transparent = 1}.file());
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->width, 9);
  EXPECT_EQ(layout->height, 7);
  EXPECT_EQ(layout->x, 3);
  EXPECT_EQ(layout->transparent, 1);
  EXPECT_EQ(layout->entries, 4U);
  EXPECT_EQ(layout->palette, 13U);
}

TEST(GifLayout, PassesOverOtherExtensions) {
  std::string file = GifOf{}.file();
  file.insert(25, std::string("\x21\xfe\x03"
                              "abc"
                              "\x01x\x00",
                              9));
  const auto layout = gif_layout_of(file);
  ASSERT_TRUE(layout) << layout.error().to_string();
  EXPECT_EQ(layout->frame_width, 2);
}

TEST(GifLayout, StopsAtTooManyBlocks) {
  std::string file = GifOf{}.file().substr(0, 25);
  for (int i = 0; i < 65'537; ++i) file += std::string("\x21\xfe\0", 3);
  const auto layout = gif_layout_of(file);
  ASSERT_FALSE(layout);
  EXPECT_EQ(layout.error().kind(), ErrorKind::ResourceExhausted);
}

}  // namespace
}  // namespace headpond::image_internal

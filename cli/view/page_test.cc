// SPDX-License-Identifier: Apache-2.0
#include "cli/view/page.h"

#include <gmock/gmock.h>

namespace headpond::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ViewPage, EscapesWhatDataSays) {
  Tile tile;
  tile.source = "<script>a</script>";
  tile.record = 3;
  tile.error = "\"x\" & y";
  const auto page = page_of({tile}, "a<b").value();
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, HasSubstr("&quot;x&quot; &amp; y"));
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, HasSubstr("record 3, key not known<"));
  tile.is_whole = true;
  tile.key = 0;
  EXPECT_THAT(page_of({tile}, "t").value(), HasSubstr("script&gt;, key 0<"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

TEST(ViewPage, HasPicturesAndSounds) {
  Tile tile;
  tile.pictures.emplace_back("image", Picture(2, 2));
  tile.wav.resize(50);
  const auto page = page_of({tile}, "t").value();
  EXPECT_THAT(page, HasSubstr("src=\"data:image/png;base64,"));
  EXPECT_THAT(page, HasSubstr("src=\"data:audio/wav;base64,"));
  EXPECT_THAT(page_of({}, "t").value(), HasSubstr("no elements"));
}

TEST(ViewSheet, HasAPlaceForEachTile) {
  Tile tile;
  tile.pictures.emplace_back("image", Picture(10, 10, {1, 2, 3}));
  const Picture one = sheet_of({tile}), many = sheet_of(std::vector<Tile>(20, tile));
  EXPECT_GT(many.width * many.height, 15 * (one.width - 8) * (one.height - 8));
  EXPECT_GT(sheet_of({}).width, 0);
  EXPECT_GT(sheet_of({Tile{.error = "broken"}}).height, 100);
}

TEST(ViewSheet, CrossesOutErrorsAlone) {
  const auto has_red = [](const Picture& sheet) {
    for (size_t i = 0; i < sheet.rgb.size(); i += 3) {
      if (sheet.rgb[i] == 200 && sheet.rgb[i + 1] == 70) return true;
    }
    return false;
  };
  EXPECT_TRUE(has_red(sheet_of({Tile{.error = "broken"}})));
  EXPECT_FALSE(has_red(sheet_of({Tile{}}))) << "a number is no error";
}

TEST(ViewSheet, ManyPicturesOfASampleHaveTheWidthOfFour) {
  Tile four, many;
  for (int i = 0; i < 14; ++i) many.pictures.emplace_back("channel", Picture(300, 300));
  four.pictures.assign(many.pictures.begin(), many.pictures.begin() + 4);
  EXPECT_LE(sheet_of({many}).width, sheet_of({four}).width + 10 * 4);
}

}  // namespace
}  // namespace headpond::cli

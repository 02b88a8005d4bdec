// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "headpond/codec/image/exif_internal.h"

namespace headpond::image_internal {
namespace {

using testing::ElementsAre;

std::string exif_block(char orientation) {
  return std::string("II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", 18) + orientation + std::string("\0\0\0", 3);
}

int orientation_in(const std::string& block) { return exif_orientation(std::as_bytes(std::span(block))); }

TEST(Exif, HasAnOrientationWithOrWithoutItsMark) {
  EXPECT_EQ(orientation_in(exif_block(6)), 6);
  EXPECT_EQ(orientation_in(std::string("Exif\0\0", 6) + exif_block(8)), 8);
}

TEST(Exif, ThatIsCutOrWrongCountsAsNone) {
  EXPECT_EQ(orientation_in(exif_block(0)), 1);
  EXPECT_EQ(orientation_in(exif_block(9)), 1);
  const std::string whole = exif_block(6);
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_EQ(orientation_in(whole.substr(0, size)), 1) << size;
}

std::vector<int> turned(int orientation) {
  const std::vector<uint8_t> image = {1, 2, 3, 4, 5, 6};
  std::vector<uint8_t> to(image.size());
  turn_image(std::as_bytes(std::span(image)).data(), 2, 3, 1, orientation,
             std::as_writable_bytes(std::span(to)).data());
  return {to.begin(), to.end()};
}

// 1 2 3
// 4 5 6
TEST(TurnImage, ShowsTheImageAsItWasSeen) {
  EXPECT_THAT(turned(1), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(turned(2), ElementsAre(3, 2, 1, 6, 5, 4));
  EXPECT_THAT(turned(3), ElementsAre(6, 5, 4, 3, 2, 1));
  EXPECT_THAT(turned(4), ElementsAre(4, 5, 6, 1, 2, 3));
  EXPECT_THAT(turned(5), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(turned(6), ElementsAre(4, 1, 5, 2, 6, 3));
  EXPECT_THAT(turned(7), ElementsAre(6, 3, 5, 2, 4, 1));
  EXPECT_THAT(turned(8), ElementsAre(3, 6, 2, 5, 1, 4));
}

}  // namespace
}  // namespace headpond::image_internal

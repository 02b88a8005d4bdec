// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <array>
#include <vector>

#include "headpond/codec/image/formats/format_internal.h"

namespace headpond::image_internal {
namespace {

using testing::ElementsAre;

template <class To, class From>
std::vector<To> put(const std::vector<From>& pixel, int want) {
  std::vector<To> to(static_cast<size_t>(want));
  const PixelTarget target(reinterpret_cast<std::byte*>(to.data()), 1, want, sizeof(To) == 1 ? DType::u8 : DType::u16);
  target.put_row(0, pixel.data(), static_cast<int>(pixel.size()));
  return to;
}

TEST(PixelTarget, ChangesChannelsAsPngDoes) {
  const std::vector<uint8_t> rgba = {10, 20, 30, 40}, grey = {7};
  EXPECT_THAT((put<uint8_t>(rgba, 3)), ElementsAre(10, 20, 30));
  EXPECT_THAT((put<uint8_t>(rgba, 2)), ElementsAre(18, 40));
  EXPECT_THAT((put<uint8_t>(rgba, 1)), ElementsAre(18));
  EXPECT_THAT((put<uint8_t>(rgba, 4)), ElementsAre(10, 20, 30, 40));
  EXPECT_THAT((put<uint8_t>(grey, 4)), ElementsAre(7, 7, 7, 255));
  EXPECT_THAT((put<uint8_t>(std::vector<uint8_t>{7, 9}, 4)), ElementsAre(7, 7, 7, 9));
}

TEST(PixelTarget, ChangesDepthAsPngDoes) {
  EXPECT_THAT((put<uint16_t>(std::vector<uint8_t>{1, 255}, 2)), ElementsAre(257, 65535));
  EXPECT_THAT((put<uint16_t>(std::vector<uint8_t>{1}, 2)), ElementsAre(257, 65535));
  EXPECT_THAT((put<uint8_t>(std::vector<uint16_t>{0x12ff}, 1)), ElementsAre(0x12));
  EXPECT_THAT((put<uint16_t>(std::vector<uint16_t>{0x1234, 5, 6}, 3)), ElementsAre(0x1234, 5, 6));
}

TEST(PixelTarget, WritesTheRowThatIsAsked) {
  std::array<uint8_t, 6> rows = {};
  const PixelTarget target(reinterpret_cast<std::byte*>(rows.data()), 2, 1, DType::u8);
  const std::array<uint8_t, 2> row = {1, 2};
  target.put_row(1, row.data(), 1);
  EXPECT_THAT(rows, ElementsAre(0, 0, 1, 2, 0, 0));
}

TEST(ImageSource, SaysWhetherTheFileOrTheHeadEnds) {
  const std::array<std::byte, 4> head = {};
  const Source source = {.head = head, .file_bytes = 10, .name = "x"};
  EXPECT_TRUE(source.need(4));
  EXPECT_EQ(source.need(5).error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_EQ(source.need(11).error().kind(), ErrorKind::DataLoss);
  EXPECT_TRUE(source.need_in_file(10));
}

}  // namespace
}  // namespace headpond::image_internal

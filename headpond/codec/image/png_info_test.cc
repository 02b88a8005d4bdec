// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/codec/image/png.h"
#include "headpond/codec/image/png_internal.h"
#include "headpond/codec/image/png_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::kPngKinds;
using test::png_chunk;
using test::PngImageOf;
using test::to_bytes;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

Result<PngInfo> read(const std::string& file, const PngOptions& options = {}) {
  return png_info(to_bytes(file), file.size(), options, "a.png");
}

TEST(PngInfo, SaysWhatTheHeaderSays) {
  for (const auto& [type, depth] : kPngKinds) {
    const PngImageOf image = {7, 4, type, depth, depth == 8};
    const int channels = std::array{1, 0, 3, 3, 2, 0, 4}[static_cast<size_t>(type)];
    EXPECT_EQ(read(image.file()).value(), (PngInfo{4, 7, channels, depth, type == 3, depth == 8}));
  }
}

TEST(PngInfo, ATransparentPaletteHasFourChannels) {
  const PngImageOf image = {.color_type = 3, .bit_depth = 2};
  EXPECT_EQ(read(image.file(image.transparency(3)))->channels, 4);
  EXPECT_EQ(read(image.file(image.transparency(5)))->channels, 3) << "more alphas than colours";
  EXPECT_EQ(read(image.file(png_chunk("tRNS", "")))->channels, 3);
  EXPECT_EQ(read(image.file("", image.transparency(3)))->channels, 3) << "after the image";
}

TEST(PngInfo, NeedsTheHeadOfAFileOnly) {
  for (const int type : {2, 3}) {
    const PngImageOf image = {.color_type = type};
    const auto file = to_bytes(image.file(type == 3 ? image.transparency(2) : ""));
    const PngInfo whole = png_info(file, file.size()).value();
    const size_t needed = type == 2 ? 33 : 33 + 12 + 768 + 12 + 2 + 8;
    for (size_t size = 0; size < file.size(); ++size) {
      const auto info = png_info(std::span(file).first(size), file.size());
      ASSERT_EQ(info.has_value(), size >= needed) << size;
      if (info) {
        EXPECT_EQ(*info, whole);
      } else {
        EXPECT_EQ(info.error().kind(), ErrorKind::FailedPrecondition);
      }
    }
    EXPECT_THAT(png_info(std::span(file).first(20), file.size()).error().message(),
                HasSubstr("the first 20 were given: at least 33 are needed"));
  }
}

TEST(PngInfo, LimitsPixelsByTheOption) {
  EXPECT_TRUE(read(PngImageOf{8, 8}.file(), {.max_pixels = 64}));
  for (const int64_t limit : {int64_t{63}, int64_t{0}, int64_t{-1}}) {
    EXPECT_EQ(read(PngImageOf{8, 8}.file(), {.max_pixels = limit}).error().kind(), ErrorKind::ResourceExhausted);
  }
  EXPECT_TRUE(read(test::kPngSignature + PngImageOf{8'000, 8'000}.header()));
}

TEST(PngInfo, RefusesWhatDecodingRefuses) {
  const PngImageOf palette = {.color_type = 3};
  const std::string no_image = test::kPngSignature + palette.header() + palette.palette() + png_chunk("IEND", "");
  EXPECT_THAT(read(no_image + palette.data()).error().message(), HasSubstr("a.png: no IDAT chunk"));
  EXPECT_EQ(read(no_image + palette.data()).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_FALSE(decode_png(to_bytes(no_image + palette.data())));
  for (const PngOptions& options : {PngOptions{.channels = 9}, PngOptions{.channels = -1}, PngOptions{.dtype = f32}}) {
    EXPECT_THAT(read(PngImageOf{}.file(), options).error().message(), HasSubstr("a.png: channels"));
  }
}

TEST(PngInfo, FlippedBitsOfAHeaderAreNoticed) {
  const std::string file = PngImageOf{}.file();
  for (size_t bit = 0; bit < 8 * 33; ++bit) {
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    const auto info = read(damaged);
    ASSERT_FALSE(info) << bit;
    EXPECT_THAT(info.error().message(), StartsWith("a.png: "));
  }
}

TEST(PngLayout, AddsUpTheImagesDataAndNothingElse) {
  const PngImageOf image;
  const std::string data = test::deflated(image.raw());
  const std::string file = test::kPngSignature + image.header() + png_chunk("tEXt", "a") +
                           png_chunk("IDAT", data.substr(0, 3)) + png_chunk("IDAT", "") +
                           png_chunk("IDAT", data.substr(3)) + png_chunk("IEND", "");
  const auto layout = png_internal::read_layout(to_bytes(file), {}, "a.png").value();
  EXPECT_EQ(layout.data_bytes, data.size());
  EXPECT_FALSE(layout.is_animated);
  EXPECT_EQ(layout.channels(), 1);
}

}  // namespace
}  // namespace headpond

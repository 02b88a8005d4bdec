// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/codec/image/formats/formats_test_internal.h"
#include "headpond/codec/image/formats/signature_internal.h"

namespace headpond::image_internal {
namespace {

using testing::HasSubstr;

std::string_view seen_as(std::string_view file) { return signature_of(test::bytes_of(file)).what; }

TEST(ImageSignature, KnowsWhatIsDecoded) {
  const auto format = [](std::string_view file) { return signature_of(test::bytes_of(file)).format; };
  EXPECT_EQ(format("\xff\xd8\xff\xe0"), ImageFormat::jpeg);
  EXPECT_EQ(format("\x89PNG\r\n\x1a\n"), ImageFormat::png);
  EXPECT_EQ(format("GIF89a"), ImageFormat::gif);
  EXPECT_EQ(format("RIFF....WEBPVP8 "), ImageFormat::webp);
  EXPECT_EQ(format("P5 1"), ImageFormat::pnm);
  EXPECT_EQ(format(std::string("BM....\0\0\0\0", 10)), ImageFormat::bmp);
}

TEST(ImageSignature, NamesImagesThatAreNotDecoded) {
  EXPECT_EQ(seen_as(std::string("II*\0", 4)), "a TIFF image");
  EXPECT_EQ(seen_as(std::string("MM\0*", 4)), "a TIFF image");
  EXPECT_EQ(seen_as(std::string("\0\0\0\x20"
                                "ftypavif",
                                12)),
            "an AVIF image");
  EXPECT_EQ(seen_as(std::string("\0\0\0\x20"
                                "ftypheic",
                                12)),
            "a HEIF image");
  EXPECT_EQ(seen_as("\xff\x0a"), "a JPEG XL image");
  EXPECT_THAT(
      test::error_of(std::string("II*\0\10\0\0\0", 8)),
      HasSubstr("Unimplemented: image: a TIFF image is not supported: convert it to PNG, or its pixels to npy"));
}

TEST(ImageSignature, NamesWhatIsNoImage) {
  EXPECT_EQ(seen_as("\n <!DOCTYPE HTML>"), "HTML");
  EXPECT_EQ(seen_as("\xef\xbb\xbf<html>"), "HTML");
  EXPECT_EQ(seen_as("<?xml version"), "XML");
  EXPECT_EQ(seen_as("{\"error\":404}"), "JSON");
  EXPECT_EQ(seen_as("404 Not Found"), "text");
  EXPECT_EQ(seen_as("\x1f\x8b\x08"), "gzip");
  EXPECT_EQ(seen_as("RIFF....WAVEfmt "), "WAV sound");
  EXPECT_EQ(seen_as(std::string(20, '\0')), "zeros only");
  EXPECT_EQ(seen_as(""), "an empty file");
  EXPECT_THAT(test::error_of("<html>"), HasSubstr("InvalidArgument: image: no image: it is HTML"));
}

TEST(ImageSignature, ShowsTheFirstBytesOfAnythingElse) {
  EXPECT_EQ(seen_as("\x01\x02"), "");
  EXPECT_THAT(test::error_of("\x01\x02"), HasSubstr("no image: it begins with 01 02"));
}

TEST(ImageSignature, TakesNoTextForAnImage) {
  EXPECT_EQ(seen_as("P53 is a road"), "text");
  EXPECT_EQ(seen_as("BMW 3 series"), "text");
}

}  // namespace
}  // namespace headpond::image_internal

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/codec/image/formats/formats_test_internal.h"
#include "headpond/codec/signature_internal.h"

namespace headpond::codec_internal {
namespace {

using testing::HasSubstr;

std::string_view seen_as(std::string_view file) { return signature_of(test::bytes_of(file)).what; }

TEST(FileSignature, KnowsWhatIsDecoded) {
  const auto kind = [](std::string_view file) { return signature_of(test::bytes_of(file)).kind; };
  EXPECT_EQ(kind("\xff\xd8\xff\xe0"), FileKind::jpeg);
  EXPECT_EQ(kind("\x89PNG\r\n\x1a\n"), FileKind::png);
  EXPECT_EQ(kind("GIF89a"), FileKind::gif);
  EXPECT_EQ(kind("RIFF....WEBPVP8 "), FileKind::webp);
  EXPECT_EQ(kind("P5 1"), FileKind::pnm);
  EXPECT_EQ(kind(std::string("BM....\0\0\0\0", 10)), FileKind::bmp);
  EXPECT_EQ(kind("FORM....AIFF"), FileKind::sound);
  EXPECT_EQ(kind("caff"), FileKind::other_sound);
}

TEST(FileSignature, NamesImagesThatAreNotDecoded) {
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

TEST(FileSignature, NamesWhatIsNoImage) {
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

TEST(FileSignature, ShowsTheFirstBytesOfAnythingElse) {
  EXPECT_EQ(seen_as("\x01\x02"), "");
  EXPECT_THAT(test::error_of("\x01\x02"), HasSubstr("no image: it begins with 01 02"));
}

TEST(FileSignature, TakesNoTextForAnImage) {
  EXPECT_EQ(seen_as("P53 is a road"), "text");
  EXPECT_EQ(seen_as("BMW 3 series"), "text");
}

}  // namespace
}  // namespace headpond::codec_internal

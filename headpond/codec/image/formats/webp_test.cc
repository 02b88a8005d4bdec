// SPDX-License-Identifier: Apache-2.0
// Checksums are of Pillow's pixels for files that it wrote.
#include <gmock/gmock.h>

#include "headpond/codec/image/formats/formats_test_internal.h"

namespace headpond {
namespace {

using test::bytes_of;
using test::checksum_of;
using test::error_of;
using test::from_hex;
using test::little;
using testing::HasSubstr;

const std::string kWebpLossless = from_hex(
    "5249464668000000574542505650384c5c0000002f04c000009fa0a8912435f9dcdd6366167344dab6a9e3e2e1ab6d2349397a660c2ffc"
    "6abfe8f98fbf7f5d315168e332e23191503111b2a48ecb880784713111b26a8a78ef0f14b66da4868ef1f923fa1f409a1325c661effdac"
    "d6fd");
const std::string kWebpLosslessAlpha = from_hex(
    "524946465e000000574542505650384c520000002f04c00010b93244f43f7611d1ff309869db463e47a2f73420e34faf62c1148fa43b25"
    "8d2449497958fab1d5b1f8a49d68336ddb1ca651f51e88dde32f8d50bcfffb4edb9445703048592c83e790b2040e14");
const std::string kWebpLossy = from_hex(
    "524946468800000057454250565038207c0000009002009d012a1000080004006825b002747f03d880883f755957c4ad0000cdcc9a22d8"
    "4911273a146523a9b68116b2341c9dad096f196f9e56ba074ba7c35b5a2d55384594af971507b144c521614f1b100d541b4ed729312be6"
    "7b19643a0ff51f58770183e35f9cd45b8d34710fd6f38ff7f7f1328beadefe800000");
const std::string kWebpLossyAlpha = from_hex(
    "524946469e00000057454250565038580a00000010000000050000050000414c50482500000000d2fa224a729af01b46719cc70e3c6a98"
    "c6f42c5d8ebff0214a7eb2e61a4e689fd60d447b0056503820520000001002009d012a0600060004006825b002747f001992c2df6b8000"
    "cdcc9a2c61057df43e96a7994811ccf78c914ebd0010017d51258b9f5d4c83e2d5e64f07effefe5f78bf51a973641133fa823fd4dd9900"
    "00");
// Its first frame, of 5 x 4 pixels, lies at (2, 2) of a canvas of 8 x 7.
const std::string kWebpMoving = from_hex(
    "524946468400000057454250565038580a00000002000000070000060000414e494d06000000ffffffff0000414e4d4658000000010000"
    "0100000400000300000a0000005650384c400000002f04c00000b93244f43f7611d1ff309869db46394722f73420e30f2f120ba67824dd"
    "996ddb44ca0f5d5bd8b88399d3383ae2fd3e9519d4c00cd0b88319c28200");

TEST(Webp, HasThePixelsThatPillowFinds) {
  EXPECT_EQ(checksum_of(kWebpLossless), 0xb0984459);
  EXPECT_EQ(checksum_of(kWebpLosslessAlpha), 0x0d5731ed);
  EXPECT_EQ(checksum_of(kWebpLossy), 0x46764eab);
  EXPECT_EQ(checksum_of(kWebpLossyAlpha), 0xccdee0d2);
}

TEST(Webp, OfAnAnimationIsTheFirstFrameOnItsCanvas) { EXPECT_EQ(checksum_of(kWebpMoving), 0xe450c1df); }

// kWebpLossless, 5 x 4 pixels, with an orientation after its image.
std::string turned_webp(char orientation) {
  const std::string tiff =
      std::string("II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", 18) + orientation + std::string("\0\0\0", 3);
  const std::string body = "WEBPVP8X" + little(10, 4) + little(8, 4) + little(4, 3) + little(3, 3) +
                           kWebpLossless.substr(12) + "EXIF" + little(tiff.size(), 4) + tiff;
  return "RIFF" + little(body.size(), 4) + body;
}

TEST(Webp, IsTurnedByItsOrientation) {
  const auto stored = test::values_of(kWebpLossless),
             kept = test::values_of(turned_webp(6), {.apply_exif_orientation = false});
  EXPECT_EQ(kept, stored);
  const auto image = decode_image(bytes_of(turned_webp(6)));
  ASSERT_TRUE(image) << image.error();
  ASSERT_EQ(image->pixels.shape(), (Shape{5, 4, 3}));
  const auto turned = image->pixels.as<uint8_t>();
  for (size_t y = 0; y < 5; ++y) {
    for (size_t x = 0; x < 4; ++x) EXPECT_EQ(turned[(y * 4 + x) * 3], stored[((3 - x) * 5 + y) * 3]);
  }
  EXPECT_EQ(test::values_of(turned_webp(1)), stored);
  EXPECT_EQ(test::values_of(turned_webp(77)), stored);
}

TEST(Webp, WithAnOrientationNeedsItsEndForItsSize) {
  const std::string file = turned_webp(6);
  EXPECT_EQ(image_info(bytes_of(file), file.size())->height, 5);
  EXPECT_EQ(image_info(bytes_of(file).first(60), file.size()).error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_EQ(image_info(bytes_of(file).first(60), file.size(), {.apply_exif_orientation = false})->height, 4);
}

TEST(Webp, HasOtherFormsOfItsPixels) {
  const auto color = test::values_of(kWebpLosslessAlpha), rgb = test::values_of(kWebpLosslessAlpha, {.channels = 3});
  const auto grey = test::values_of(kWebpLosslessAlpha, {.channels = 2});
  const auto opaque = test::values_of(kWebpLossless, {.channels = 4});
  ASSERT_EQ(grey.size(), 40U);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(color[4 * i + 1], rgb[3 * i + 1]);
    EXPECT_EQ(grey[2 * i + 1], color[4 * i + 3]);
    EXPECT_EQ(opaque[4 * i + 3], 255);
  }
  const auto wide = decode_image(bytes_of(kWebpLossless), {.dtype = DType::u16});
  EXPECT_EQ(wide->pixels.as<uint16_t>()[7], 257 * test::values_of(kWebpLossless)[7]);
}

TEST(Webp, SaysWhatItsHeadSays) {
  const auto info = image_info(bytes_of(kWebpMoving).first(30), kWebpMoving.size());
  ASSERT_TRUE(info);
  EXPECT_EQ(*info, (ImageInfo{.format = ImageFormat::webp, .height = 7, .width = 8, .channels = 3}));
  EXPECT_EQ(image_info(bytes_of(kWebpLossyAlpha), kWebpLossyAlpha.size())->channels, 4);
  EXPECT_EQ(image_info(bytes_of(kWebpLosslessAlpha), kWebpLosslessAlpha.size())->channels, 4);
}

TEST(Webp, WithChunksThatContradictIsRefused) {
  std::string other = kWebpLossless;
  other.replace(12, 4, "VP9 ");
  EXPECT_THAT(error_of(other), HasSubstr("neither VP8, VP8L nor VP8X at offset 12"));
  std::string outside = kWebpMoving;
  outside[52] = 9;  // The x of the frame.
  EXPECT_THAT(error_of(outside), HasSubstr("the frame at offset 44 reaches outside the canvas"));
  std::string sides = kWebpMoving;
  sides[58] = 3;  // The width of the frame.
  EXPECT_THAT(error_of(sides), HasSubstr("5 x 4 pixels where 4 x 4 were promised"));
  std::string huge = kWebpMoving;
  huge.replace(24, 6, 6, '\xff');  // The canvas.
  EXPECT_THAT(error_of(huge), HasSubstr("ResourceExhausted"));
}

TEST(Webp, CutAnywhereIsAnError) {
  for (const std::string* const file : {&kWebpLossless, &kWebpLossy, &kWebpLossyAlpha, &kWebpMoving}) {
    for (size_t size = 0; size < file->size(); ++size) EXPECT_EQ(test::fault_of_cut(*file, size), "") << size;
  }
}

TEST(Webp, WithDamagedDataIsAnErrorEvenIfTheSizeIsMended) {
  std::string cut = kWebpLossless.substr(0, 60);
  cut.replace(4, 4, little(cut.size() - 8, 4)).replace(16, 4, little(cut.size() - 20, 4));
  EXPECT_THAT(error_of(cut), HasSubstr("DataLoss"));
  for (const std::string* const file : {&kWebpLossless, &kWebpLossy, &kWebpLossyAlpha, &kWebpMoving}) {
    EXPECT_GT(test::flip_bits(*file, 300), 0);
  }
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// Formats are told apart; JPEG and PNG give what their own functions give.
#include "headpond/codec/image/formats/image.h"

#include <gmock/gmock.h>

#include <cstring>

#include "headpond/codec/image/formats/formats_test_internal.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/png.h"

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Tensor image_to_encode() { return Tensor::from(std::vector<uint8_t>{1, 2, 3, 40, 50, 60}, {1, 2, 3}); }

TEST(AnyImage, OfPngIsWhatDecodePngGives) {
  const auto file = encode_png(image_to_encode()).value();
  EXPECT_EQ(*image_info(file, file.size()),
            (ImageInfo{.format = ImageFormat::png, .height = 1, .width = 2, .channels = 3}));
  EXPECT_THAT(decode_image(file)->pixels.as<uint8_t>(), ElementsAre(1, 2, 3, 40, 50, 60));
  const auto wide = decode_image(file, {.channels = 2, .dtype = DType::u16});
  EXPECT_EQ(wide->pixels.as<uint16_t>()[1], 65535);
}

TEST(AnyImage, OfJpegIsWhatDecodeJpegGives) {
  if (!has_decoder(ImageFormat::jpeg)) GTEST_SKIP() << "without the component jpeg";
  const auto file = encode_jpeg(image_to_encode()).value();
  EXPECT_EQ(*image_info(file, file.size()),
            (ImageInfo{.format = ImageFormat::jpeg, .height = 1, .width = 2, .channels = 3}));
  const auto plain = decode_image(file), jpeg_grey = decode_image(file, {.channels = 1});
  const auto expected = decode_jpeg(file)->pixels;
  ASSERT_EQ(plain->pixels.byte_size(), expected.byte_size());
  EXPECT_EQ(std::memcmp(plain->pixels.data(), expected.data(), expected.byte_size()), 0);
  const auto alpha = decode_image(file, {.channels = 4})->pixels;
  EXPECT_EQ(alpha.as<uint8_t>()[0], expected.as<uint8_t>()[0]);
  EXPECT_EQ(alpha.as<uint8_t>()[7], 255);
  const auto grey = decode_image(file, {.channels = 2, .dtype = DType::u16})->pixels;
  EXPECT_EQ(grey.as<uint16_t>()[2], 257 * jpeg_grey->pixels.as<uint8_t>()[1]);
}

TEST(AnyImage, GoesIntoMemoryThatFitsExactly) {
  const std::string file = "P6 1 1 255 abc";
  std::vector<std::byte> target(3);
  ASSERT_TRUE(decode_image_into(test::bytes_of(file), target));
  EXPECT_EQ(static_cast<char>(target[2]), 'c');
  target.resize(4);
  const auto other = decode_image_into(test::bytes_of(file), target);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message(), HasSubstr("need 3 bytes, aligned; the target has 4"));
}

TEST(AnyImage, OptionsAreChecked) {
  EXPECT_THAT(test::error_of("P6 1 1 255 abc", {.channels = 5}), HasSubstr("InvalidArgument: image: channels 5"));
  EXPECT_THAT(test::error_of("P6 1 1 255 abc", {.dtype = DType::f32}), HasSubstr("float32"));
}

TEST(AnyImage, NeedsTwelveBytesToKnowTheFormat) {
  const std::string file = "RIFF....WAVE and more";
  EXPECT_EQ(image_info(test::bytes_of(file).first(8), file.size()).error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_EQ(image_info(test::bytes_of(file).first(0), file.size()).error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_EQ(image_info(test::bytes_of(file).first(12), file.size()).error().kind(), ErrorKind::InvalidArgument);
}

TEST(AnyImage, HasNamesOfFormats) {
  EXPECT_EQ(name(ImageFormat::jpeg), "jpeg");
  EXPECT_EQ(name(ImageFormat::gif), "gif");
  EXPECT_TRUE(has_decoder(ImageFormat::bmp));
  EXPECT_EQ(image_format(test::bytes_of("GIF89a")), ImageFormat::gif);
  EXPECT_EQ(image_format(test::bytes_of("<html>")), std::nullopt);
}

}  // namespace
}  // namespace headpond

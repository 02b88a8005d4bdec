// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstring>
#include <string_view>

#include "headpond/codec/image/kernels/file_decoder_internal.h"
#include "headpond/codec/image/kernels/image_test_internal.h"

namespace headpond::image_internal {
namespace {

using testing::HasSubstr;
using Format = DecodeStage::Format;

std::span<const std::byte> bytes_in(const Tensor& file) {
  return std::as_bytes(std::span(file.bytes_at(0).data(), file.bytes_at(0).size()));
}

// The part of the image in `file`, by a decoder that decoded others before.
std::vector<uint8_t> part_of(FileDecoder& decoder, const Tensor& file, const DecodeStage& stage,
                             const ImageWindow& part) {
  const auto opened = decoder.open(bytes_in(file), stage);
  EXPECT_TRUE(opened) << opened.error();
  std::vector<uint8_t> pixels(static_cast<size_t>(part.height * part.width * decoder.channels()));
  EXPECT_TRUE(decoder.decode(part, 1, reinterpret_cast<std::byte*>(pixels.data())));
  return pixels;
}

TEST(FileDecoder, DecodesPartsOfFilesInTurn) {
  const Tensor image = smooth_image(6, 5);
  const DecodeStage any = {.options = {}, .format = Format::any}, png = {.options = {}, .format = Format::png};
  const ImageWindow part = {2, 1, 3, 2};
  std::vector<uint8_t> expected;
  for (int64_t y = 2; y < 5; ++y) {
    const auto row = image.as<uint8_t>().subspan(static_cast<size_t>((y * 5 + 1) * 3), 6);
    expected.insert(expected.end(), row.begin(), row.end());
  }
  FileDecoder decoder;
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(part_of(decoder, png_of(image), png, part), expected);
    EXPECT_EQ(part_of(decoder, png_of(image), any, part), expected);
    EXPECT_EQ(part_of(decoder, pnm_of(image), any, part), expected);
  }
}

TEST(FileDecoder, KnowsTheSizeAndTheChannels) {
  FileDecoder decoder;
  ASSERT_TRUE(decoder.open(bytes_in(pnm_of(smooth_image(6, 5))),
                           {.options = {}, .format = Format::any, .image = {.channels = 4}}));
  EXPECT_EQ(decoder.height(), 6);
  EXPECT_EQ(decoder.width(), 5);
  EXPECT_EQ(decoder.channels(), 4);
}

TEST(FileDecoder, RefusesOtherFiles) {
  FileDecoder decoder;
  const Tensor html = Tensor::scalar(std::string_view("<html>"));
  EXPECT_THAT(decoder.open(bytes_in(html), {.options = {}, .format = Format::any}).error().message(),
              HasSubstr("HTML"));
  EXPECT_FALSE(decoder.open(bytes_in(html), {.options = {}, .format = Format::png}));
  EXPECT_FALSE(decoder.open(bytes_in(html), {}));
}

}  // namespace
}  // namespace headpond::image_internal

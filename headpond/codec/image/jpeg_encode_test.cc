// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "headpond/codec/image/jpeg.h"

namespace headpond {
namespace {

Tensor zeros(const Shape& shape) {
  Tensor image = Tensor::empty(u8, shape);
  std::memset(image.mutable_data(), 0, image.byte_size());
  return image;
}

TEST(EncodeJpeg, PixelsAreCloseToWhatWasEncoded) {
  for (const int64_t channels : {1, 3}) {
    Tensor image = Tensor::empty(u8, {37, 53, channels});
    auto* const to = reinterpret_cast<uint8_t*>(image.mutable_data());
    for (int64_t i = 0; i < 37 * 53 * channels; ++i) to[i] = static_cast<uint8_t>(i / channels % 53 * 4);
    const auto file = encode_jpeg(image, {.quality = 100, .chroma_downsampling = false}).value();
    const auto decoded = decode_jpeg(file, {.channels = 0});
    ASSERT_TRUE(decoded) << decoded.error();
    ASSERT_EQ(decoded->pixels.shape(), image.shape());
    EXPECT_EQ(decoded->warnings.count, 0);
    EXPECT_EQ(decoded->warnings.rows, 37);
    for (size_t i = 0; i < image.as<uint8_t>().size(); ++i) {
      ASSERT_LE(std::abs(image.as<uint8_t>()[i] - decoded->pixels.as<uint8_t>()[i]), 3);
    }
  }
}

TEST(EncodeJpeg, OtherImagesAreRefused) {
  EXPECT_FALSE(encode_jpeg(zeros({4, 4, 2})));
  EXPECT_FALSE(encode_jpeg(zeros({0, 4, 3})));
  EXPECT_FALSE(encode_jpeg(Tensor::empty(u16, {4, 4, 3})));
  EXPECT_FALSE(encode_jpeg(zeros({4, 4}), {.quality = 0}));
  EXPECT_TRUE(encode_jpeg(zeros({4, 4})));
}

}  // namespace
}  // namespace headpond

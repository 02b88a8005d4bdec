// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "headpond/codec/image/png.h"

namespace headpond {
namespace {

using testing::HasSubstr;

Tensor some_image(DType dtype, const Shape& shape) {
  Tensor image = Tensor::empty(dtype, shape);
  for (size_t i = 0; i < image.byte_size(); ++i) image.mutable_data()[i] = static_cast<std::byte>(i * i * 37 >> 3);
  return image;
}

TEST(EncodePng, WritesWhatIsDecodedToTheSame) {
  for (const DType dtype : {u8, u16}) {
    for (int64_t channels = 1; channels <= 4; ++channels) {
      for (const int level : {-1, 0, 1, 9}) {
        const Tensor image = some_image(dtype, {13, 31, channels});
        const auto file = encode_png(image, level).value();
        const PngInfo info = png_info(file, file.size()).value();
        EXPECT_EQ(info, (PngInfo{13, 31, static_cast<int>(channels), dtype == u8 ? 8 : 16, false, false}));
        const auto decoded = decode_png(file, {.dtype = dtype});
        ASSERT_TRUE(decoded) << decoded.error();
        EXPECT_EQ(decoded->warnings.count, 0) << decoded->warnings.first;
        ASSERT_TRUE(decoded->pixels.has_shape(image.shape()));
        EXPECT_EQ(std::memcmp(decoded->pixels.data(), image.data(), image.byte_size()), 0);
      }
    }
  }
}

TEST(EncodePng, TakesAnImageWithoutAChannelDimensionAsGrey) {
  const auto file = encode_png(some_image(u8, {3, 2})).value();
  EXPECT_EQ(decode_png(file)->pixels.shape(), (Shape{3, 2, 1}));
  EXPECT_EQ(file, encode_png(some_image(u8, {3, 2, 1})).value());
}

TEST(EncodePng, CompressesMoreAtAHigherLevel) {
  const Tensor image = some_image(u8, {64, 64, 3});
  EXPECT_GT(encode_png(image, 0)->size(), image.byte_size());
  EXPECT_LT(encode_png(image, 9)->size(), image.byte_size());
}

TEST(EncodePng, WritesALongRow) {
  const Tensor image = some_image(u8, {1, 2'000'000});
  const auto file = encode_png(image, 1).value();
  EXPECT_EQ(decode_png(file)->pixels.dim(1), 2'000'000);
}

TEST(EncodePng, RefusesWhatAPngCannotHold) {
  for (const auto& image :
       {Tensor::empty(u8, {0, 0}), Tensor::empty(u8, {0, 5, 3}), Tensor::empty(u8, {5, 0, 3}),
        Tensor::empty(u8, {5, 5, 0}), Tensor::empty(u8, {5, 5, 5}), Tensor::empty(u8, {5}), Tensor::empty(u8, {}),
        Tensor::empty(u8, {1, 1, 1, 1}), Tensor::empty(f32, {5, 5}), Tensor::empty(u8, {int64_t{1} << 31, 0, 1})}) {
    const auto file = encode_png(image);
    ASSERT_FALSE(file) << image.shape().to_string();
    EXPECT_EQ(file.error().kind(), ErrorKind::InvalidArgument);
  }
  EXPECT_THAT(encode_png(Tensor::empty(u8, {0, 5, 3})).error().message(), HasSubstr("uint8 [0,5,3] at level -1"));
  for (const int level : {-2, 10}) EXPECT_FALSE(encode_png(some_image(u8, {2, 2}), level));
}

}  // namespace
}  // namespace headpond

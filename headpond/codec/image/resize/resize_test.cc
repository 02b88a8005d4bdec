// SPDX-License-Identifier: Apache-2.0
// Expected values are those of Pillow 9.4 and OpenCV: tests/oracles/resize.py.
#include "headpond/codec/image/resize/resize.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// As in the script.
Tensor resize_picture(int64_t height, int64_t width, DType dtype) {
  std::vector<uint8_t> values;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < 3; ++c) {
        const int64_t value = y * y * 31 + x * x * 17 + x * y * 7 + c * 91 + (x / 3 + y / 2) % 2 * 120;
        values.push_back(static_cast<uint8_t>(value % 256));
      }
    }
  }
  if (dtype == DType::u8) return Tensor::from(values, {height, width, 3});
  std::vector<float> floats;
  for (const uint8_t value : values) floats.push_back(static_cast<float>(value) / 256);
  return Tensor::from(floats, {height, width, 3});
}

// FNV-1a.
uint64_t hash_of(const Tensor& image) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (size_t i = 0; i < image.byte_size(); ++i) hash = (hash ^ static_cast<uint8_t>(image.data()[i])) * 0x100000001b3U;
  return hash;
}

struct PillowRow {
  ResizeFilter filter;
  int64_t in_height, in_width, height, width;
  uint64_t u8_hash, f32_hash;
};
constexpr PillowRow kPillow[] = {
    {ResizeFilter::nearest, 1, 1, 3, 2, 0x343e007d23ef082bU, 0x106a4a520728f76dU},
    {ResizeFilter::nearest, 2, 3, 5, 7, 0xe814eb62a4015bb3U, 0x425bd6cef69cabfcU},
    {ResizeFilter::nearest, 9, 4, 1, 1, 0x13b226191edc0eb2U, 0x2be925e1d0a095c7U},
    {ResizeFilter::nearest, 7, 13, 7, 5, 0xa94861e5b98416e5U, 0xaa05ea2ce8970517U},
    {ResizeFilter::nearest, 40, 31, 9, 31, 0x4ed668b2123e2a51U, 0x521a58f8aef7e480U},
    {ResizeFilter::nearest, 33, 50, 20, 24, 0xe6e496b85891dd15U, 0xe749cb2b36e7393U},
    {ResizeFilter::nearest, 5, 6, 64, 40, 0x2681928cefe25541U, 0xd0ab0ced41d6f9b6U},
    {ResizeFilter::nearest, 61, 2, 6, 3, 0x2e63937da5c1cabdU, 0x9a533eeef9fac37eU},
    {ResizeFilter::box, 1, 1, 3, 2, 0x343e007d23ef082bU, 0x106a4a520728f76dU},
    {ResizeFilter::box, 2, 3, 5, 7, 0xe814eb62a4015bb3U, 0x425bd6cef69cabfcU},
    {ResizeFilter::box, 9, 4, 1, 1, 0xcd90c618f6e72a59U, 0x9bc0880cdac477a1U},
    {ResizeFilter::box, 7, 13, 7, 5, 0x6d49c0741004eccbU, 0xeb43c6266530918eU},
    {ResizeFilter::box, 40, 31, 9, 31, 0x53849622dd0196c7U, 0xfd5893b073d1e0bcU},
    {ResizeFilter::box, 33, 50, 20, 24, 0x284bbbcff1498997U, 0x3dd885628fb7c1bcU},
    {ResizeFilter::box, 5, 6, 64, 40, 0x2681928cefe25541U, 0xd0ab0ced41d6f9b6U},
    {ResizeFilter::box, 61, 2, 6, 3, 0xfcb9d9992789dba1U, 0x5a0081ab02de7eeU},
    {ResizeFilter::bilinear, 1, 1, 3, 2, 0x343e007d23ef082bU, 0x106a4a520728f76dU},
    {ResizeFilter::bilinear, 2, 3, 5, 7, 0xfe93340f44a9802fU, 0xe45f78bea7d99f3U},
    {ResizeFilter::bilinear, 9, 4, 1, 1, 0xd6218a18fbb9602eU, 0x8c8970cae03c6fe6U},
    {ResizeFilter::bilinear, 7, 13, 7, 5, 0x6b2c844b986bc4fcU, 0xdbe788fe64ab7df6U},
    {ResizeFilter::bilinear, 40, 31, 9, 31, 0x8f5874f128ea78a5U, 0x934e0cb987eee18fU},
    {ResizeFilter::bilinear, 33, 50, 20, 24, 0x27b3df79584f8b37U, 0x2a29e556f24c7587U},
    {ResizeFilter::bilinear, 5, 6, 64, 40, 0xe32436439063b35dU, 0xb324be8c35ca1122U},
    {ResizeFilter::bilinear, 61, 2, 6, 3, 0x9aa6446686ac3ee8U, 0x98d08a5818650a4aU},
    {ResizeFilter::bicubic, 1, 1, 3, 2, 0x343e007d23ef082bU, 0x106a4a520728f76dU},
    {ResizeFilter::bicubic, 2, 3, 5, 7, 0x5f064a9388fefc80U, 0x60980cbfe0f6d93aU},
    {ResizeFilter::bicubic, 9, 4, 1, 1, 0xdb86f018fddaf890U, 0x50416037e5209f54U},
    {ResizeFilter::bicubic, 7, 13, 7, 5, 0x63af69fdb4916ef8U, 0xdc2ed182320d8489U},
    {ResizeFilter::bicubic, 40, 31, 9, 31, 0x46a7190cb9e7009fU, 0xe0d186d39b550b17U},
    {ResizeFilter::bicubic, 33, 50, 20, 24, 0x57b3dda2217a97c2U, 0xdb2087a23da67c50U},
    {ResizeFilter::bicubic, 5, 6, 64, 40, 0x46453dff579c9f49U, 0xd28c2e4ccca785d1U},
    {ResizeFilter::bicubic, 61, 2, 6, 3, 0xe8eb3e7ce50e0da2U, 0xde5345e5399976feU},
    {ResizeFilter::lanczos, 1, 1, 3, 2, 0x343e007d23ef082bU, 0x106a4a520728f76dU},
    {ResizeFilter::lanczos, 2, 3, 5, 7, 0xbe90192d253143f1U, 0x2af182d6eacf68f4U},
    {ResizeFilter::lanczos, 9, 4, 1, 1, 0xdb86f018fddaf890U, 0xa12abd95e3a3e38bU},
    {ResizeFilter::lanczos, 7, 13, 7, 5, 0x2407e7362fa17940U, 0x410ee4d48bf0a0ccU},
    {ResizeFilter::lanczos, 40, 31, 9, 31, 0xf2be47e2639a42d8U, 0x36f3cce3c5e5ae0fU},
    {ResizeFilter::lanczos, 33, 50, 20, 24, 0x8749ab3b245b92a5U, 0xe6b674e84a527c75U},
    {ResizeFilter::lanczos, 5, 6, 64, 40, 0x59ee71472233deeeU, 0x626bbaf1db472fd6U},
    {ResizeFilter::lanczos, 61, 2, 6, 3, 0xf5450166fa0c4088U, 0x5160f69c05befb87U},
};

// Rows whose bytes are not Pillow's.
int count_differing(const ResizeOptions& change = {}) {
  int differing = 0;
  for (const PillowRow& row : kPillow) {
    ResizeOptions options = change;
    options.filter = row.filter;
    for (const DType dtype : {DType::u8, DType::f32}) {
      const auto image =
          resize_image(resize_picture(row.in_height, row.in_width, dtype), row.height, row.width, options);
      differing += hash_of(image.value()) != (dtype == DType::u8 ? row.u8_hash : row.f32_hash);
    }
  }
  return differing;
}

// The largest difference of the first channel.
int distance(const Tensor& image, const std::vector<int>& expected) {
  int most = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    most = std::max(most, std::abs(expected[i] - static_cast<int>(image.as<uint8_t>()[3 * i])));
  }
  return most;
}

TEST(ResizeImage, HasPillowsBytes) { EXPECT_EQ(count_differing(), 0); }

TEST(ResizeImage, WithoutAntialiasHasOthers) { EXPECT_GT(count_differing({.antialias = false}), 20); }

TEST(ResizeImage, WithoutAntialiasIsWithinOneOfOpenCv) {
  const Tensor image = resize_picture(5, 6, u8);
  const ResizeOptions linear = {.antialias = false};
  EXPECT_LE(distance(*resize_image(image, 8, 9, linear),
                     {0,   8,   25,  59,  42,  37,  116, 84,  33,  14,  24,  43,  78,  64,  60,  141, 112, 62,
                      44,  48,  62,  101, 90,  90,  174, 147, 99,  177, 104, 41,  83,  79,  87,  174, 150, 104,
                      212, 141, 81,  126, 127, 127, 164, 130, 86,  149, 160, 183, 230, 235, 211, 144, 86,  45,
                      198, 146, 108, 159, 162, 158, 179, 145, 106, 240, 134, 42,  95,  96,  109, 207, 194, 157}),
            1);
  EXPECT_LE(distance(*resize_image(image, 3, 4, linear), {15, 70, 65, 80, 188, 68, 96, 129, 176, 137, 151, 138}), 1);
  const std::vector<int> area = {19, 68, 78, 93, 140, 102, 127, 122, 164, 141, 161, 137};
  EXPECT_LE(distance(*resize_image(image, 3, 4, {.filter = ResizeFilter::area}), area), 1);
  EXPECT_GT(distance(*resize_image(image, 3, 4, linear), area), 1);
}

TEST(ResizeImage, AreaIsTheMeanOfWhatAPixelCovers) {
  const Tensor row = Tensor::from(std::vector<float>{1, 2, 3}, {1, 3});
  const ResizeOptions area = {.filter = ResizeFilter::area};
  EXPECT_THAT(resize_image(row, 1, 2, area)->as<float>(), ElementsAre((1 + 2 * 0.5F) / 1.5F, (2 * 0.5F + 3) / 1.5F));
  EXPECT_THAT(resize_image(row, 2, 3, area)->as<float>(), ElementsAre(1, 2, 3, 1, 2, 3));
}

TEST(ResizeImage, AConstantStaysConstant) {
  for (const auto filter : {ResizeFilter::nearest, ResizeFilter::box, ResizeFilter::bilinear, ResizeFilter::bicubic,
                            ResizeFilter::lanczos, ResizeFilter::area}) {
    for (const bool antialias : {false, true}) {
      for (const int64_t side : {1, 2, 3, 7, 50}) {
        const Tensor image = Tensor::from(std::vector<uint8_t>(7 * 5, 255), {7, 5});
        const auto made = resize_image(image, side, 51 - side, {filter, antialias});
        for (const uint8_t value : made->as<uint8_t>()) ASSERT_EQ(value, 255) << name(filter);
      }
    }
  }
}

TEST(ResizeImage, ChannelsDoNotMix) {
  const Tensor image = resize_picture(9, 8, u8);
  std::vector<uint8_t> second;
  for (size_t i = 1; i < image.as<uint8_t>().size(); i += 3) second.push_back(image.as<uint8_t>()[i]);
  for (const bool antialias : {false, true}) {
    const auto all = resize_image(image, 5, 6, {.antialias = antialias});
    const auto alone = resize_image(Tensor::from(second, {9, 8}), 5, 6, {.antialias = antialias});
    for (size_t i = 0; i < 30; ++i) ASSERT_EQ(alone->as<uint8_t>()[i], all->as<uint8_t>()[3 * i + 1]);
  }
}

TEST(ResizeImage, ReadsBorrowedRows) {
  const Tensor image = resize_picture(6, 8, u8);
  const ImageView part = {image.data() + 8 * 3 + 6, u8, 4, 5, 3, 8 * 3};
  Tensor copied = Tensor::empty(u8, {4, 5, 3});
  for (size_t y = 0; y < 4; ++y) std::memcpy(copied.mutable_data() + y * 15, part.data + y * 24, 15);
  for (const bool antialias : {false, true}) {
    const auto expected = resize_image(copied, 3, 7, {.antialias = antialias});
    std::vector<std::byte> made(3 * 7 * 3);
    ASSERT_TRUE(resize_image(part, 3, 7, made.data(), {.antialias = antialias}));
    EXPECT_EQ(std::memcmp(made.data(), expected->data(), made.size()), 0);
  }
}

TEST(ResizeImage, RefusesOtherImagesAndSizes) {
  const auto problem = [](const Tensor& image, int64_t height, int64_t width) {
    return resize_image(image, height, width).error().message();
  };
  EXPECT_THAT(problem(Tensor::empty(u16, {2, 2}), 1, 1), HasSubstr("an image of uint16"));
  EXPECT_THAT(problem(Tensor::empty(u8, {2, 2, 5}), 1, 1), HasSubstr("an image of 5 channels"));
  EXPECT_THAT(problem(Tensor::empty(u8, {2}), 1, 1), HasSubstr("[height, width, channels] was expected"));
  EXPECT_THAT(problem(Tensor::empty(u8, {0, 2}), 1, 1), HasSubstr("2 x 0 pixels can't become 1 x 1"));
  EXPECT_THAT(problem(Tensor::empty(u8, {2, 2}), 0, 1), HasSubstr("1 x 0"));
  EXPECT_THAT(problem(Tensor::empty(u8, {2, 2}), std::numeric_limits<int64_t>::max(), 1), HasSubstr("1048576"));
}

}  // namespace
}  // namespace headpond

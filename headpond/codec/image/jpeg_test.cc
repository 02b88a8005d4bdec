// SPDX-License-Identifier: Apache-2.0
// Whole images, regions, orientations, damage, limits. Images are made by encode_jpeg().
#include "headpond/codec/image/jpeg.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "headpond/base/random.h"
#include "headpond/codec/image/jpeg_internal.h"
#include "headpond/codec/image/jpeg_test_internal.h"

namespace headpond {
namespace {

using jpeg_internal::Mutation;
using testing::HasSubstr;
using testing::StartsWith;
using File = std::vector<std::byte>;

Tensor picture(int64_t height, int64_t width, int64_t channels, uint64_t seed) {
  Random random(seed);
  Tensor image = Tensor::empty(u8, {height, width, channels});
  auto* const to = reinterpret_cast<uint8_t*>(image.mutable_data());
  for (int64_t i = 0; i < height * width * channels; ++i) {
    to[i] = static_cast<uint8_t>((i / channels % width * 5 + i / channels / width * 3 + i % channels * 80 +
                                  static_cast<int64_t>(random.below(60))) %
                                 256);
  }
  return image;
}

File file_of(int64_t height, int64_t width, int64_t channels, const JpegEncodeOptions& options = {}) {
  return encode_jpeg(picture(height, width, channels, 7), options).value();
}

File with_orientation(const File& file, char orientation) {
  const std::string exif = std::string("\xff\xe1\x00\x22", 4) + std::string("Exif\0\0", 6) +
                           std::string("MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0", 19) + orientation +
                           std::string(6, '\0');
  File with = file;
  const auto bytes = std::as_bytes(std::span(exif));
  with.insert(with.begin() + 2, bytes.begin(), bytes.end());
  return with;
}

std::vector<uint8_t> cut_out(const Tensor& image, const ImageWindow& window) {
  std::vector<uint8_t> part;
  const auto values = image.as<uint8_t>();
  for (int64_t y = window.y; y < window.y + window.height; ++y) {
    const int64_t at = (y * image.dim(1) + window.x) * image.dim(2), count = window.width * image.dim(2);
    part.insert(part.end(), values.begin() + at, values.begin() + at + count);
  }
  return part;
}

bool equals(const Tensor& image, const std::vector<uint8_t>& values) {
  const auto all = image.as<uint8_t>();
  return std::equal(all.begin(), all.end(), values.begin(), values.end());
}

ImageWindow random_window(const Tensor& image, Random& random) {
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random.below(static_cast<uint64_t>(n))); };
  ImageWindow window = {below(image.dim(0)), below(image.dim(1))};
  window.height = 1 + below(image.dim(0) - window.y);
  window.width = 1 + below(image.dim(1) - window.x);
  return window;
}

// The number of random regions that differ from the whole image, cropped.
int count_differing(const Mutation& mutation, int files) {
  Random random(31);
  int differing = 0;
  for (int i = 0; i < files; ++i) {
    const auto side = [&] { return static_cast<int64_t>(1 + random.below(random.below(4) == 0 ? 20 : 140)); };
    const int64_t height = side(), width = side();
    const File made = file_of(height, width, random.below(4) == 0 ? 1 : 3,
                              {.quality = static_cast<int>(1 + random.below(100)),
                               .chroma_downsampling = random.below(3) != 0,
                               .progressive = random.below(5) == 0});
    const File file = with_orientation(made, static_cast<char>(1 + random.below(8)));
    const JpegOptions options = {.channels = std::array{0, 1, 3}[random.below(3)],
                                 .ratio = 1 << random.below(4),
                                 .fancy_upscaling = random.below(3) != 0};
    const auto whole = decode_jpeg(file, options);
    EXPECT_TRUE(whole) << whole.error();
    for (int k = 0; k < 8; ++k) {
      const ImageWindow window = random_window(whole->pixels, random);
      const auto part = jpeg_internal::decode_part(file, window, options, "a.jpg", mutation);
      EXPECT_TRUE(part) << part.error();
      differing += !equals(part->pixels, cut_out(whole->pixels, window));
    }
  }
  return differing;
}

TEST(DecodeJpeg, InfoAgreesWithPixels) {
  const File file = with_orientation(file_of(37, 53, 3, {.progressive = true}), 6);
  for (const bool turns : {false, true}) {
    const JpegOptions options = {.ratio = 2, .apply_exif_orientation = turns};
    const auto info = jpeg_info(file, file.size(), options);
    ASSERT_TRUE(info) << info.error();
    EXPECT_EQ(info->orientation, 6);
    EXPECT_TRUE(info->is_progressive);
    EXPECT_EQ(info->sampling[0], (std::array<uint8_t, 2>{2, 2}));
    EXPECT_EQ(decode_jpeg(file, options)->pixels.shape(), (Shape{info->height, info->width, 3}));
    EXPECT_EQ(info->width, turns ? 19 : 27);
  }
  EXPECT_EQ(jpeg_info(std::span(file).first(20), file.size()).error().kind(), ErrorKind::FailedPrecondition);
}

TEST(DecodeJpeg, OrientationsAreThoseOfExif) {
  const File plain = file_of(5, 9, 3);
  const Tensor image = decode_jpeg(plain)->pixels;
  for (char turn = 1; turn <= 8; ++turn) {
    const Tensor turned = decode_jpeg(with_orientation(plain, turn))->pixels;
    ASSERT_EQ(turned.shape(), turn >= 5 ? (Shape{9, 5, 3}) : (Shape{5, 9, 3}));
    for (int64_t y = 0; y < turned.dim(0); ++y) {
      for (int64_t x = 0; x < turned.dim(1); ++x) {
        const int64_t a = turn >= 5 ? x : y, b = turn >= 5 ? y : x;
        const int64_t row = turn == 3 || turn == 4 || turn == 6 || turn == 7 ? 4 - a : a;
        const int64_t column = turn == 2 || turn == 3 || turn == 7 || turn == 8 ? 8 - b : b;
        ASSERT_EQ(turned.as<uint8_t>()[static_cast<size_t>((y * turned.dim(1) + x) * 3)],
                  image.as<uint8_t>()[static_cast<size_t>((row * 9 + column) * 3)]);
      }
    }
  }
  for (const char broken : {'\0', '\x09'})
    EXPECT_TRUE(equals(decode_jpeg(with_orientation(plain, broken))->pixels, cut_out(image, {0, 0, 5, 9})));
}

TEST(DecodeJpeg, ARegionHasThePixelsOfTheWholeImage) {
  EXPECT_EQ(count_differing({}, 150), 0);
  EXPECT_EQ(count_differing({.by_library = true}, 150), 0);
}

TEST(DecodeJpeg, ARegionHasThePixelsOfTheWholeImageOfOtherSamplings) {
  Random random(6);
  constexpr std::array<std::array<int, 2>, 5> kFactors = {{{2, 1}, {1, 2}, {4, 1}, {1, 4}, {4, 2}}};
  for (const auto& [across, down] : kFactors) {
    for (const int restart : {0, 2}) {
      const Tensor image = jpeg_testing::noisy_picture(70, 93, 3, 40, 5);
      const File file = jpeg_testing::write_jpeg(image, {.across = across, .down = down, .restart = restart});
      const Tensor whole = decode_jpeg(file)->pixels;
      for (int i = 0; i < 8; ++i) {
        const ImageWindow window = random_window(whole, random);
        EXPECT_TRUE(equals(decode_and_crop_jpeg(file, window)->pixels, cut_out(whole, window))) << across << down;
      }
    }
  }
}

TEST(DecodeJpeg, FourInksBecomeColours) {
  Tensor inks = Tensor::empty(u8, {16, 16, 4});
  for (size_t i = 0; i < inks.byte_size(); ++i)
    inks.mutable_data()[i] = static_cast<std::byte>(std::array{200, 100, 50, 240}[i % 4]);
  for (const auto space : {JCS_CMYK, JCS_YCCK}) {
    const File file = jpeg_testing::write_jpeg(inks, {.quality = 100, .across = 1, .down = 1, .space = space});
    const Tensor image = decode_jpeg(file)->pixels;  // With Adobe's marker: c k / 255.
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(image.as<uint8_t>()[i], (std::array{188, 94, 47}[i]), 2) << space;
    EXPECT_EQ(decode_and_crop_jpeg(file, {3, 4, 1, 1})->pixels.as<uint8_t>()[0], image.as<uint8_t>()[0]);
  }
}

File without_segment(const File& file, uint8_t marker) {
  for (size_t at = 2; at + 4 < file.size();) {
    const size_t size = 2 + (static_cast<size_t>(file[at + 2]) << 8 | static_cast<size_t>(file[at + 3]));
    if (file[at + 1] == std::byte{marker}) {
      File without(file.begin(), file.begin() + static_cast<int64_t>(at));
      without.insert(without.end(), file.begin() + static_cast<int64_t>(at + size), file.end());
      return without;
    }
    at += size;
  }
  ADD_FAILURE() << "no such segment";
  return file;
}

TEST(DecodeJpeg, FourInksWithoutAdobesMarkerAreNotInverted) {
  Tensor inks = Tensor::empty(u8, {16, 16, 4});
  for (size_t i = 0; i < inks.byte_size(); ++i)
    inks.mutable_data()[i] = static_cast<std::byte>(std::array{20, 100, 200, 40}[i % 4]);
  const File adobe = jpeg_testing::write_jpeg(inks, {.quality = 100, .across = 1, .down = 1, .space = JCS_CMYK});
  const Tensor image = decode_jpeg(without_segment(adobe, 0xee))->pixels, inverted = decode_jpeg(adobe)->pixels;
  for (size_t i = 0; i < 3; ++i) {  // (255 - c)(255 - k) / 255
    EXPECT_NEAR(image.as<uint8_t>()[i], (std::array{198, 130, 46}[i]), 2);
    EXPECT_NEAR(inverted.as<uint8_t>()[i], (std::array{3, 15, 31}[i]), 2) << "control";
  }
}

TEST(DecodeJpeg, ARegionOfOnePixelIsUpsampledAsTheWholeImage) {
  for (const int64_t width : {3, 5, 20}) {
    const File file = file_of(6, width, 3);
    for (const int ratio : {1, 2}) {
      const Tensor whole = decode_jpeg(file, {.ratio = ratio})->pixels;
      for (int64_t x = 0; x < whole.dim(1); ++x) {
        const ImageWindow window = {1, x, 1, 1};
        EXPECT_TRUE(equals(decode_and_crop_jpeg(file, window, {.ratio = ratio})->pixels, cut_out(whole, window)));
      }
    }
  }
}

TEST(DecodeJpeg, WithoutTheMarginPixelRegionsDiffer) {
  EXPECT_GT(count_differing({.without_margin = true, .by_library = true}, 120), 0);
}

TEST(DecodeJpeg, ASecondSkipMakesRegionsDiffer) {
  EXPECT_GT(count_differing({.second_skip = true, .by_library = true}, 120), 0);
}

TEST(DecodeJpeg, IntoATargetOfTheRightSizeOnly) {
  const File file = file_of(6, 7, 3);
  const Tensor image = decode_jpeg(file)->pixels;
  std::vector<std::byte> target(6 * 7 * 3);
  ASSERT_TRUE(decode_jpeg_into(file, target));
  EXPECT_EQ(std::memcmp(target.data(), image.data(), target.size()), 0);
  target.pop_back();
  EXPECT_THAT(decode_jpeg_into(file, target).error().message(), HasSubstr("need 126 bytes; the target has 125"));
}

TEST(DecodeJpegFaults, ACutFileFailsWhateverTheRegionUnlessRecovered) {
  for (const bool progressive : {false, true}) {
    const File file = file_of(64, 80, 3, {.progressive = progressive});
    for (size_t i = 0; i < 64; ++i) {
      const auto cut = std::span(file).first(file.size() * i / 64);
      const auto image = decode_jpeg(cut, {}, "a.jpg");
      ASSERT_FALSE(image);
      EXPECT_THAT(image.error().message(), StartsWith("a.jpg: "));
      EXPECT_FALSE(decode_and_crop_jpeg(cut, {0, 0, 1, 1}));
      const auto recovered = decode_jpeg(cut, {.damage = JpegDamage::recover, .acceptable_fraction = 0});
      EXPECT_TRUE(!recovered || recovered->warnings.count > 0);
    }
  }
}

TEST(DecodeJpegFaults, FlippedBitsGiveAnErrorOrThePixelsOfRecover) {
  for (const bool progressive : {false, true}) {
    const File file = file_of(40, 56, 3, {.progressive = progressive});
    Random random(5);
    for (int i = 0; i < 1'000; ++i) {
      File flipped = file;
      flipped[random.below(file.size())] ^= static_cast<std::byte>(1U << random.below(8));
      const JpegOptions limits = {.max_pixels = 1 << 16};
      JpegOptions recovers = limits;
      recovers.damage = JpegDamage::recover;
      recovers.acceptable_fraction = 0;
      const auto image = decode_jpeg(flipped, limits);
      if (!image) continue;
      const auto recovered = decode_jpeg(flipped, recovers);
      ASSERT_TRUE(recovered) << recovered.error();
      const auto values = recovered->pixels.as<uint8_t>();
      EXPECT_TRUE(equals(image->pixels, {values.begin(), values.end()}));
    }
  }
}

TEST(JpegDecoder, AFileHasTheSamePixelsAfterAnyOther) {
  const auto without_tables = [](File file) {  // Each Huffman table becomes a comment.
    for (size_t i = 0; i + 1 < file.size(); ++i) {
      if (file[i] == std::byte{0xff} && file[i + 1] == std::byte{0xc4}) file[i + 1] = std::byte{0xfe};
    }
    return file;
  };
  const File optimized = file_of(40, 30, 3, {.optimize = true}), plain = file_of(33, 50, 1);
  const auto broken = [](File file) {
    file[file.size() / 2] = std::byte{0xff};
    file[file.size() / 2 + 1] = std::byte{0xd9};
    return file;
  };
  const std::vector<File> files = {optimized,     without_tables(plain),
                                   broken(plain), broken(file_of(20, 30, 3, {.progressive = true})),
                                   plain,         without_tables(optimized)};
  jpeg_internal::Decoder decoder;
  Random random(4);
  for (int i = 0; i < 200; ++i) {
    const File& file = files[random.below(files.size())];
    const auto expected = decode_jpeg(file);
    ASSERT_TRUE(decoder.open(file, {}, "jpeg"));
    const ImageWindow whole = {0, 0, decoder.layout().height, decoder.layout().width};
    std::vector<uint8_t> pixels(static_cast<size_t>(whole.height * whole.width * 3));
    const auto done = decoder.decode(whole, {}, reinterpret_cast<std::byte*>(pixels.data()), "jpeg");
    ASSERT_EQ(done.has_value(), expected.has_value());
    if (done) {
      ASSERT_TRUE(equals(expected->pixels, pixels));
    } else {
      ASSERT_EQ(done.error().message(), expected.error().message());
    }
  }
}

TEST(DecodeJpegFaults, DamageBelowARegionIsFoundIfTheWholeFileIsChecked) {
  File file = file_of(64, 80, 3);
  const size_t at = file.size() * 3 / 4;
  file[at] = std::byte{0xff};
  file[at + 1] = std::byte{0xd9};
  EXPECT_TRUE(decode_and_crop_jpeg(file, {0, 0, 8, 8}));
  EXPECT_EQ(decode_and_crop_jpeg(file, {0, 0, 8, 8}, {.check = JpegCheck::whole}).error().kind(), ErrorKind::DataLoss);
}

// A grey image of 64 rows, cut after the restart that follows its first 32 rows.
File half_of(const Tensor& image) {
  const File file = jpeg_testing::write_jpeg(image, {.across = 1, .down = 1, .restart = 10});
  for (size_t at = 0; at + 1 < file.size(); ++at) {
    if (file[at] == std::byte{0xff} && file[at + 1] == std::byte{0xd3}) {
      return {file.begin(), file.begin() + static_cast<int64_t>(at + 2)};
    }
  }
  ADD_FAILURE() << "no fourth restart";
  return file;
}

TEST(DecodeJpegFaults, RecoverGivesTheRowsBeforeTheEndOfACutFile) {
  const Tensor image = picture(64, 80, 1, 3);
  const auto whole = decode_jpeg(jpeg_testing::write_jpeg(image, {.across = 1, .down = 1}), {.channels = 1});
  const auto half =
      decode_jpeg(half_of(image), {.channels = 1, .damage = JpegDamage::recover, .acceptable_fraction = 0});
  ASSERT_TRUE(half) << half.error();
  EXPECT_GT(half->warnings.count, 0);
  EXPECT_THAT(half->warnings.first, HasSubstr("row 32 of 64"));
  EXPECT_EQ(half->warnings.rows, 32);
  const auto got = half->pixels.as<uint8_t>(), expected = whole->pixels.as<uint8_t>();
  EXPECT_TRUE(std::equal(got.begin(), got.begin() + 32 * 80, expected.begin()));
  EXPECT_FALSE(std::equal(got.begin(), got.end(), expected.begin())) << "control: the rows below are lost";
}

TEST(DecodeJpegFaults, RecoverTakesACutFileWithEnoughRows) {
  const File half = half_of(picture(64, 80, 1, 3));
  const auto recovered = [&](double fraction) {
    return decode_jpeg(half, {.damage = JpegDamage::recover, .acceptable_fraction = fraction}, "a.jpg");
  };
  EXPECT_TRUE(recovered(0.4));
  EXPECT_TRUE(recovered(0.5));
  const auto refused = recovered(0.6);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(refused.error().message(), "a.jpg: the file ends at row 32 of 64, before the share of 0.6 of them");
}

TEST(DecodeJpegFaults, AMarkerThatNoDecoderCanPassIsNamedWithItsByte) {
  const File file = file_of(64, 80, 3);
  const size_t at = file.size() * 3 / 4;
  const auto damaged = [&](std::string_view marker) {
    File broken = file;
    std::memcpy(&broken[at], marker.data(), marker.size());
    return decode_jpeg(broken, {}, "a.jpg").error().message();
  };
  const std::string place = fmt::format("a.jpg: corrupt data at byte {},{:03}: ", at / 1000, at % 1000);
  EXPECT_EQ(damaged({"\xff\x3a\0\0", 4}), place + "a marker without a valid length");
  EXPECT_EQ(damaged({"\xff\x3a\xff\x00", 4}), place + "a marker without a valid length");
  EXPECT_EQ(damaged({"\xff\xd8\0\0", 4}), place + "a marker that can't stand there");
  File cut(file.begin(), file.begin() + static_cast<int64_t>(at));
  cut.insert(cut.end(), {std::byte{0xff}, std::byte{0x3a}, std::byte{1}, std::byte{0}});
  EXPECT_EQ(decode_jpeg(cut, {}, "a.jpg").error().message(),
            fmt::format("a.jpg: corrupt data at byte {},{:03}: the file ends there without an end-of-image marker",
                        cut.size() / 1000, cut.size() % 1000));
}

TEST(DecodeJpegFaults, DamageNamesByteAndRow) {
  File file = file_of(64, 80, 3);
  const size_t at = file.size() * 3 / 4;
  file[at] = std::byte{0xff};
  file[at + 1] = std::byte{0xd9};
  const auto image = decode_jpeg(file, {}, "a.jpg");
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().kind(), ErrorKind::DataLoss);
  EXPECT_THAT(image.error().message(), StartsWith("a.jpg: corrupt data at byte "));
  EXPECT_THAT(image.error().message(), HasSubstr(" of 64: \""));
}

}  // namespace
}  // namespace headpond

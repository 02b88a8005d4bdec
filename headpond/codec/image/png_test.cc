// SPDX-License-Identifier: Apache-2.0
// Pixels of every kind of image; broken files are in png_faults_test.cc.
#include "headpond/codec/image/png.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "headpond/codec/image/png_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::kPngKinds;
using test::png_chunk;
using test::PngImageOf;
using test::to_bytes;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<uint32_t> values_of(const Tensor& tensor) {
  if (tensor.dtype() == u8) {
    const auto values = tensor.as<uint8_t>();
    return {values.begin(), values.end()};
  }
  const auto values = tensor.as<uint16_t>();
  return {values.begin(), values.end()};
}

// What decoding is to give, by the reference.
std::vector<uint32_t> expected(const PngImageOf& image, int channels, int bits, uint32_t alphas) {
  std::vector<uint32_t> all;
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      const auto [red, green, blue, alpha] = image.rgba(y, x, bits, alphas);
      if (channels >= 3) all.insert(all.end(), {red, green, blue});
      if (channels < 3) all.push_back((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16);
      if (channels % 2 == 0) all.push_back(alpha);
    }
  }
  return all;
}

void expect_pixels(const PngImageOf& image, const std::string& file, uint32_t alphas, int own_channels) {
  for (const DType dtype : {u8, u16}) {
    for (int channels = 0; channels <= 4; ++channels) {
      SCOPED_TRACE(testing::Message() << "type " << image.color_type << " depth " << image.bit_depth << " interlaced "
                                      << image.is_interlaced << ", " << image.width << " x " << image.height << " to "
                                      << channels << " of " << name(dtype));
      const int given = channels == 0 ? own_channels : channels;
      const auto decoded = decode_png(to_bytes(file), {.channels = channels, .dtype = dtype});
      ASSERT_TRUE(decoded) << decoded.error();
      EXPECT_EQ(decoded->warnings.count, 0) << decoded->warnings.first;
      ASSERT_EQ(decoded->pixels.shape(), (Shape{image.height, image.width, given}));
      ASSERT_EQ(values_of(decoded->pixels), expected(image, given, dtype == u8 ? 8 : 16, alphas));
    }
  }
}

int own_channels(int color_type) { return std::array{1, 0, 3, 3, 2, 0, 4}[static_cast<size_t>(color_type)]; }

TEST(DecodePng, Row60EveryTypeDepthAndInterlaceIsPixelEqual) {
  for (const auto& [type, depth] : kPngKinds) {
    for (const bool interlaced : {false, true}) {
      const PngImageOf image = {37, 19, type, depth, interlaced};
      expect_pixels(image, image.file(), 0, own_channels(type));
    }
  }
}

TEST(DecodePng, EveryFilterOfRowsIsPixelEqual) {
  for (const auto& [type, depth] : kPngKinds) {
    for (int filter = 1; filter <= 5; ++filter) {
      SCOPED_TRACE(testing::Message() << "filter " << filter);
      const PngImageOf image = {23, 12, type, depth, filter % 2 == 0, filter};
      expect_pixels(image, image.file(), 0, own_channels(type));
      const PngImageOf other = {5, 7, type, depth, filter % 2 != 0, filter};
      expect_pixels(other, other.file(), 0, own_channels(type));
    }
  }
}

TEST(DecodePng, EverySmallSizeIsPixelEqual) {
  for (const auto& [type, depth] : {std::pair{0, 1}, {3, 2}, {2, 8}, {4, 16}}) {
    for (uint32_t side = 1; side <= 9; ++side) {
      for (const bool interlaced : {false, true}) {
        const PngImageOf wide = {side, 10 - side, type, depth, interlaced};
        expect_pixels(wide, wide.file(), 0, own_channels(type));
        const PngImageOf square = {side, side, type, depth, interlaced};
        expect_pixels(square, square.file(), 0, own_channels(type));
      }
    }
  }
}

TEST(DecodePng, ATransparentColorBecomesAlphaWhereAlphaIsWanted) {
  for (const auto& [type, depth] : kPngKinds) {
    if (type == 3 || type >= 4) continue;
    const PngImageOf image = {17, 9, type, depth, depth == 8};
    expect_pixels(image, image.file(image.transparency()), 1, own_channels(type));
  }
}

TEST(DecodePng, Row59APaletteWithTransparencyAndGammaIsPixelEqualAtBothDepths) {
  const std::string gamma = png_chunk("gAMA", test::big_endian(45455));
  for (const int depth : {1, 2, 4, 8}) {
    for (const bool interlaced : {false, true}) {
      const PngImageOf image = {17, 9, 3, depth, interlaced};
      const uint32_t alphas = depth == 1 ? 1 : 3;
      expect_pixels(image, image.file(image.transparency(alphas) + gamma), alphas, 4);
    }
  }
  const PngImageOf wide = {17, 9, 6, 16, false};
  expect_pixels(wide, wide.file(gamma), 0, 4);
  const PngImageOf color = {17, 9, 2, 8, false};
  expect_pixels(color, color.file(gamma), 0, 3);
}

TEST(DecodePng, WritesIntoARowOfABatch) {
  const PngImageOf image = {5, 3, 2, 8};
  const auto file = to_bytes(image.file());
  Tensor batch = Tensor::empty(u8, {3, 3, 5, 1});
  std::fill_n(batch.mutable_data(), 45, std::byte{77});
  const auto warnings = decode_png_into(file, {batch.mutable_data() + 15, 15}, {.channels = 1});
  ASSERT_TRUE(warnings) << warnings.error();
  auto all = values_of(batch);
  EXPECT_EQ(std::vector(all.begin() + 15, all.begin() + 30), expected(image, 1, 8, 0));
  EXPECT_EQ(std::count(all.begin(), all.begin() + 15, 77), 15);
  EXPECT_EQ(std::count(all.begin() + 30, all.end(), 77), 15);
  const Error error = decode_png_into(file, {batch.mutable_data(), 15}, {}, "a.png").error();
  EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(error.message(), "a.png: 5 x 3 pixels of 3 channels of uint8 need 45 bytes, aligned; the target has 15");
  EXPECT_FALSE(decode_png_into(file, {batch.mutable_data() + 1, 30}, {.channels = 1, .dtype = u16}));
}

TEST(DecodePng, RefusesOptionsOutsideTheirRange) {
  const auto file = to_bytes(PngImageOf{}.file());
  for (const PngOptions& options : {PngOptions{.channels = -1}, PngOptions{.channels = 5}, PngOptions{.dtype = f32}}) {
    const auto decoded = decode_png(file, options, "a.png");
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().kind(), ErrorKind::InvalidArgument);
    EXPECT_THAT(decoded.error().message(), HasSubstr("a.png: channels"));
  }
}

// Rows of an 8-bit file without interlace, by zlib and the five filters of the book, as one text.
std::string by_hand(const std::vector<std::byte>& file, size_t rows, size_t row, size_t pixel) {
  const std::string text(reinterpret_cast<const char*>(file.data()), file.size());
  std::string packed;
  for (size_t at = 8; at < text.size();) {
    uint32_t size;
    std::memcpy(&size, &text[at], 4);
    size = __builtin_bswap32(size);
    if (text.compare(at + 4, 4, "IDAT") == 0) packed += text.substr(at + 8, size);
    at += size + 12;
  }
  std::string raw(rows * (row + 1), '\0');
  auto raw_size = static_cast<uLongf>(raw.size());
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(raw.data()), &raw_size, reinterpret_cast<const Bytef*>(packed.data()),
                       static_cast<uLong>(packed.size())),
            Z_OK);
  std::string all;
  for (size_t at = 0; at < raw_size; at += row + 1) {
    const size_t begin = all.size();
    for (size_t x = 0; x < row; ++x) {
      const auto value = [&](bool left, bool up) -> int {
        if ((left && x < pixel) || (up && begin == 0)) return 0;
        return static_cast<uint8_t>(all[begin + x - (left ? pixel : 0) - (up ? row : 0)]);
      };
      const int a = raw[at] == 0 || raw[at] == 2 ? 0 : value(true, false), b = raw[at] < 2 ? 0 : value(false, true);
      const int c = raw[at] == 4 ? value(true, true) : 0, p = a + b - c;
      const int paeth = std::abs(p - a) <= std::abs(p - b) && std::abs(p - a) <= std::abs(p - c) ? a
                        : std::abs(p - b) <= std::abs(p - c)                                     ? b
                                                                                                 : c;
      const int predicted = std::array{0, a, b, (a + b) / 2, paeth}[static_cast<size_t>(raw[at])];
      all += static_cast<char>(raw[at + 1 + x] + predicted);
    }
  }
  return all;
}

TEST(DecodePng, Reads160ImagesWith3252Masks) {
  const std::string folder = test::test_data("dsb2018-nuclei");
  if (folder.empty()) GTEST_SKIP() << "no real data: HEADPOND_DATA is not set; with CI=true this is a failure";
  std::map<std::string, int> counts;
  std::map<std::vector<int64_t>, int> sizes;
  const size_t share = test::quick_or(12, 1);
  size_t at = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder + "/stage1_train")) {
    if (entry.path().extension() != ".png") continue;
    const std::string kind = entry.path().parent_path().filename();
    if (kind == "masks" && ++at % share != 0) continue;
    const auto file = test::get_file(entry.path());
    const auto decoded = decode_png(file, {}, entry.path().string());
    ASSERT_TRUE(decoded) << decoded.error();
    EXPECT_EQ(decoded->warnings.count, 0) << decoded->warnings.first;
    const Tensor& pixels = decoded->pixels;
    EXPECT_EQ(pixels.dim(2), kind == "images" ? 4 : 1) << entry.path();
    const PngInfo info = png_info(std::span(file).first(33), file.size()).value();
    EXPECT_EQ(pixels.shape(), (Shape{info.height, info.width, info.channels}));
    if (kind == "images") ++sizes[{info.height, info.width}];
    if (counts[kind]++ % 16 != 0) continue;
    const auto pixel = static_cast<size_t>(info.channels);
    const std::string reference =
        by_hand(file, static_cast<size_t>(info.height), static_cast<size_t>(info.width) * pixel, pixel);
    ASSERT_EQ(reference.size(), pixels.byte_size());
    EXPECT_EQ(std::memcmp(reference.data(), pixels.data(), reference.size()), 0) << entry.path();
  }
  EXPECT_EQ(counts["images"], 160);
  EXPECT_EQ(counts["masks"], 3252 / static_cast<int>(share));
  EXPECT_EQ(sizes.size(), 5U);
}

}  // namespace
}  // namespace headpond

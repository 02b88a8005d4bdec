// SPDX-License-Identifier: Apache-2.0
// Decoding without libpng against decoding by libpng: equal pixels, warnings and errors, of any file.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>

#include "headpond/base/random.h"
#include "headpond/codec/image/png.h"
#include "headpond/codec/image/png_internal.h"
#include "headpond/codec/image/png_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::png_chunk;
using test::PngImageOf;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

void expect_same(std::span<const std::byte> file, const PngOptions& options) {
  const auto got = decode_png(file, options, "a.png");
  const auto expected = internal::decode_png_by_libpng(file, options, "a.png");
  ASSERT_EQ(got.has_value(), expected.has_value()) << (got ? expected.error() : got.error());
  if (!got) {
    ASSERT_EQ(got.error().to_string(), expected.error().to_string());
    return;
  }
  ASSERT_EQ(got->warnings.count, expected->warnings.count);
  ASSERT_EQ(got->warnings.first, expected->warnings.first);
  ASSERT_EQ(got->pixels.shape(), expected->pixels.shape());
  ASSERT_EQ(std::memcmp(got->pixels.data(), expected->pixels.data(), got->pixels.byte_size()), 0);
}

void expect_same_in_all_forms(std::span<const std::byte> file) {
  for (const DType dtype : {u8, u16}) {
    for (int channels = 0; channels <= 4; ++channels) {
      SCOPED_TRACE(testing::Message() << "to " << channels << " of " << name(dtype));
      ASSERT_NO_FATAL_FAILURE(expect_same(file, {.channels = channels, .dtype = dtype}));
    }
  }
}

// Whether libpng is not asked; `is_plain` also if it is asked after all, because of damaged data.
struct Way {
  bool is_plain = false, is_without_libpng = false;
};
Way way_of(std::span<const std::byte> file) {
  const auto layout = png_internal::read_layout(file, {}, "a.png");
  if (!layout || !layout->is_plain) return {};
  const size_t row = size_t{layout->width} * 4;
  std::vector<std::byte> pixels(row * layout->height);
  const png_internal::Target target = {4, false, {0, 0, layout->height, layout->width}, row, pixels.size()};
  return {true, png_internal::decode_plain(file, *layout, target, pixels.data())};
}

TEST(PngPlain, EveryKindFilterAndWidthIsWithoutLibpngAndTheSame) {
  for (const auto& [type, depth] : test::kPngKinds) {
    for (uint32_t width = 1; width <= 70; width += depth < 8 ? 13 : 3) {  // All widths modulo 16.
      const PngImageOf image = {width, 1 + width % 7, type, depth, false, static_cast<int>(width / 3 % 6)};
      SCOPED_TRACE(testing::Message() << "type " << type << " depth " << depth << " width " << width);
      const std::string file = image.file();
      EXPECT_EQ(way_of(bytes_of(file)).is_without_libpng, depth >= 8);
      ASSERT_NO_FATAL_FAILURE(expect_same_in_all_forms(bytes_of(file)));
    }
    for (int filter = 0; filter <= 5; ++filter) {
      const PngImageOf image = {211, 40, type, depth, false, filter};
      ASSERT_NO_FATAL_FAILURE(expect_same_in_all_forms(bytes_of(image.file())));
    }
  }
}

TEST(PngPlain, WhatLibpngWouldWarnOfOrChangeIsLeftToIt) {
  const PngImageOf color = {7, 5, 2, 8}, palette = {7, 5, 3, 8};
  const std::string text = png_chunk("tEXt", "abc"), colors = png_chunk("PLTE", "abcdef"), end = png_chunk("IEND", "");
  std::string wrong = text;
  wrong.back() = static_cast<char>(wrong.back() ^ 1);
  const auto expect = [](bool is_plain, const std::string& file) {
    EXPECT_EQ(way_of(bytes_of(file)).is_plain, is_plain);
    expect_same_in_all_forms(bytes_of(file));
  };
  expect(true, color.file());
  expect(true, palette.file());
  expect(true, color.file(text, text));
  expect(true, test::kPngSignature + palette.header() + colors + palette.data() + end);  // Indices after the end.
  expect(false, color.file(wrong));
  expect(false, color.file("", wrong));
  expect(false, color.file(colors));
  expect(false, color.file(color.transparency()));
  expect(false, color.file("", color.transparency()));
  expect(false, palette.file(palette.transparency(3)));
  expect(false, color.file(png_chunk("acTL", test::big_endian(1) + test::big_endian(0))));
  expect(false, color.file("", text + png_chunk("IDAT", "")));
  expect(false, test::kPngSignature + color.header() + color.data() + png_chunk("IEND", "x"));
  expect(false, PngImageOf{7, 5, 2, 8, true}.file());
}

// A pixel of 5 after so many empty stored blocks.
std::string after_empty_blocks(size_t count) {
  using namespace std::string_literals;
  std::string data = "\x78\x01"s;
  for (size_t i = 0; i < count; ++i) data += "\0\0\0\xff\xff"s;
  data += "\x01\x02\0\xfd\xff\0\x05"s + test::big_endian(7 << 16 | 6);
  return test::kPngSignature + PngImageOf{1, 1, 0, 8}.header() + png_chunk("IDAT", data) + png_chunk("IEND", "");
}

TEST(PngPlain, DataFarLongerThanThePixelsAreLeftToLibpngWhichRefusesThem) {
  for (const size_t count : {size_t{1'500'000}, size_t{1'700'000}}) {
    const std::string file = after_empty_blocks(count);
    EXPECT_EQ(way_of(bytes_of(file)).is_plain, count == 1'500'000);
    expect_same(bytes_of(file), {});
    expect_same(bytes_of(file), {.channels = 3, .dtype = u16});
  }
}

// Image data cut into chunks of `size` bytes.
std::string in_pieces(const PngImageOf& image, const std::string& data, size_t size) {
  std::string file = test::kPngSignature + image.header() + image.palette();
  for (size_t at = 0; at < data.size(); at += size) file += png_chunk("IDAT", data.substr(at, size));
  return file + png_chunk("IEND", "");
}

TEST(PngPlain, DataInPiecesAreJoined) {
  const PngImageOf image = {60, 50, 6, 8, false, 5};
  const std::string data = test::deflated(image.raw());
  for (const size_t size : {size_t{1}, size_t{7}, size_t{1000}, data.size()}) {
    const std::string file = in_pieces(image, data, size);
    EXPECT_TRUE(way_of(bytes_of(file)).is_without_libpng);
    expect_same(bytes_of(file), {});
    const std::string more = in_pieces(image, data + png_chunk("IDAT", ""), size);
    EXPECT_FALSE(way_of(bytes_of(more)).is_without_libpng);
    expect_same(bytes_of(more), {});
  }
}

TEST(PngPlain, PiecesOfMoreDataThanAreJoinedAtOnceWithEmptyOnesBetween) {
  const PngImageOf image = {900, 600, 6, 8, false, 5};
  const std::string data = test::deflated(image.raw());
  ASSERT_GT(data.size(), 150'000U);
  for (const size_t size : {size_t{50}, size_t{8192}, size_t{100'000}}) {
    std::string file = test::kPngSignature + image.header() + png_chunk("IDAT", "");
    for (size_t at = 0; at < data.size(); at += size) {
      file += png_chunk("IDAT", data.substr(at, size)) + png_chunk("IDAT", "");
    }
    EXPECT_TRUE(way_of(bytes_of(file + png_chunk("IEND", ""))).is_without_libpng) << size;
    expect_same(bytes_of(file + png_chunk("IEND", "")), {});
    expect_same(bytes_of(file.substr(0, file.size() / 2)), {});
    const std::string cut = in_pieces(image, data.substr(0, data.size() - size / 2), size);
    EXPECT_FALSE(way_of(bytes_of(cut)).is_without_libpng) << size;
    expect_same(bytes_of(cut), {});
  }
}

// With right checksums of the chunks, so that the damage reaches the decoder.
TEST(PngPlain, DamagedDataHaveThePixelsOrTheErrorOfLibpng) {
  Random random(5);
  size_t passed = 0, refused = 0, asked = 0;
  for (const auto& [type, depth] : test::kPngKinds) {
    const PngImageOf image = {31, 9, type, depth, false, 5};
    const std::string data = test::deflated(image.raw());
    for (size_t i = 0; i < test::quick_or(60, 5'000); ++i) {
      std::string damaged = data;
      if (i % 3 == 0) damaged.resize(random.below(data.size() + 1));
      for (uint64_t k = i % 3 == 0 ? 0 : 1 + random.below(2); k > 0; --k) {
        damaged[random.below(damaged.size())] ^= static_cast<char>(1U << random.below(8));
      }
      if (i % 5 == 0) damaged += "more";
      const std::string file = in_pieces(image, damaged, 1 + random.below(200));
      const Way way = way_of(bytes_of(file));
      asked += way.is_plain && !way.is_without_libpng ? 1 : 0;
      ASSERT_NO_FATAL_FAILURE(expect_same(bytes_of(file), {.channels = static_cast<int>(i % 5)}));
      ++(decode_png(bytes_of(file)) ? passed : refused);
    }
  }
  EXPECT_GT(refused, 0U);
  EXPECT_GT(passed, 0U);
  EXPECT_GT(asked, 0U) << "libpng said what is damaged";
}

// Filters that do not exist, in each row.
TEST(PngPlain, AnUnknownFilterIsRefusedAsByLibpng) {
  const PngImageOf image = {5, 4, 2, 8};
  for (const size_t row : {0, 1, 3}) {
    for (const char filter : {'\4', '\5', '\xff'}) {
      std::string raw = image.raw();
      raw[row * 16] = filter;
      const std::string file = in_pieces(image, test::deflated(raw), 1000);
      EXPECT_EQ(way_of(bytes_of(file)).is_without_libpng, filter == '\4');
      expect_same(bytes_of(file), {});
    }
  }
}

TEST(PngPlain, TheFuzzCorpusIsTheSame) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HEADPOND_CORPUS "/png")) {
    SCOPED_TRACE(entry.path());
    ASSERT_NO_FATAL_FAILURE(expect_same_in_all_forms(test::get_file(entry.path())));
    ++count;
  }
  EXPECT_GE(count, 37U);
}

TEST(PngPlain, RealFilesAreWithoutLibpngAndTheSame) {
  const std::string folder = test::test_data("dsb2018-nuclei");
  if (folder.empty()) GTEST_SKIP() << "no real data: HEADPOND_DATA is not set; with CI=true this is a failure";
  size_t at = 0, count = 0, without = 0;
  const size_t share = test::quick_or(12, 1);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".png" || ++at % share != 0) continue;
    const auto file = test::get_file(entry.path());
    SCOPED_TRACE(entry.path());
    ASSERT_NO_FATAL_FAILURE(expect_same(file, {}));
    ASSERT_NO_FATAL_FAILURE(expect_same(file, {.channels = 3}));
    ++count;
    without += way_of(file).is_without_libpng ? 1 : 0;
  }
  EXPECT_EQ(count, 3412 / share);
  EXPECT_EQ(without, count);
}

}  // namespace
}  // namespace headpond

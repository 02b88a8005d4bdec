// SPDX-License-Identifier: Apache-2.0
// Broken, odd and hostile files. Rows are those of the table in docs/formats/png.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/codec/image/png.h"
#include "headpond/codec/image/png_test_internal.h"
#include "headpond/tensor/buffer.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::big_endian;
using test::deflated;
using test::kPngSignature;
using test::png_chunk;
using test::PngImageOf;
using test::to_bytes;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

Result<PngImage> read(const std::string& file, const PngOptions& options = {}) {
  return decode_png(to_bytes(file), options, "a.png");
}
void expect_error(const std::string& file, ErrorKind kind, const std::string& text) {
  const auto image = read(file);
  ASSERT_FALSE(image) << text;
  EXPECT_EQ(image.error().kind(), kind) << image.error();
  EXPECT_THAT(image.error().message(), AllOf(StartsWith("a.png: "), HasSubstr(text)));
}
void expect_warning(const std::string& file, const std::string& text) {
  const auto image = read(file);
  ASSERT_TRUE(image) << image.error();
  EXPECT_EQ(image->warnings.count, 1);
  EXPECT_THAT(image->warnings.first, HasSubstr(text));
  EXPECT_EQ(image->pixels.as<uint8_t>()[0], PngImageOf{}.value(0, 0, 0));
}

const PngImageOf kImage;
const std::string kEnd = png_chunk("IEND", "");

std::string with(std::string file, size_t at, char value) {
  file[at] = value;
  return file;
}
// A chunk whose checksum is wrong by one bit.
std::string damaged(std::string chunk) {
  chunk.back() = static_cast<char>(chunk.back() ^ 1);
  return chunk;
}
std::string file_of(const std::string& header, const std::string& data) { return kPngSignature + header + data + kEnd; }
std::string header_of(uint32_t width, uint32_t height, int type, int depth, std::string rest = std::string(3, '\0')) {
  const std::string kinds = {static_cast<char>(depth), static_cast<char>(type)};
  return png_chunk("IHDR", big_endian(width) + big_endian(height) + kinds + rest);
}

TEST(DecodePngFaults, Row53EquivalentsOfTheFourteenBrokenFilesOfPngSuiteAreRejected) {
  const std::string good = kImage.file();
  for (const size_t at : {0, 1, 3, 6}) {  // xs1, xs2, xs4, xs7
    expect_error(with(good, at, '\0'), ErrorKind::InvalidArgument, "not a PNG file: it begins with");
  }
  expect_error(std::string(good).insert(4, "\r"), ErrorKind::InvalidArgument, "not a PNG file");      // xcr
  expect_error(std::string(good).erase(4, 1), ErrorKind::InvalidArgument, "not a PNG file");          // xlf
  expect_error(with(good, 29, '\0'), ErrorKind::DataLoss, "chunk IHDR at offset 8: wrong checksum");  // xhd
  for (const auto& [type, depth] : {std::pair{1, 8}, {9, 8}, {2, 0}, {2, 3}, {2, 99}}) {  // xc1, xc9, xd0, xd3, xd9
    expect_error(file_of(header_of(5, 3, type, depth), kImage.data()), ErrorKind::InvalidArgument,
                 "colour type " + std::to_string(type) + " with " + std::to_string(depth) + " bits");
  }
  expect_error(file_of(kImage.header(), ""), ErrorKind::InvalidArgument, "no IDAT chunk");  // xdt
  expect_error(file_of(kImage.header(), damaged(kImage.data())), ErrorKind::DataLoss,
               "chunk IDAT at offset 33: wrong checksum");  // xcs
}

TEST(DecodePngFaults, Row54AWrongChecksumIsAnErrorOfANeededChunkAndAWarningOfAnother) {
  const PngImageOf palette = {.color_type = 3};
  expect_error(kPngSignature + palette.header() + damaged(palette.palette()) + palette.data() + kEnd,
               ErrorKind::DataLoss, "chunk PLTE at offset 33: wrong checksum");
  expect_error(kPngSignature + kImage.header() + kImage.data() + damaged(kEnd), ErrorKind::DataLoss,
               "chunk IEND at offset 71: wrong checksum");
  for (const std::string type : {"tEXt", "gAMA", "abCd"}) {
    expect_warning(kImage.file(damaged(png_chunk(type, "abcd"))), type + ": CRC error");
    expect_warning(kImage.file("", damaged(png_chunk(type, "abcd"))), type + ": CRC error");
  }
  const auto image = read(palette.file(damaged(palette.transparency(2))));
  ASSERT_TRUE(image) << image.error();
  EXPECT_EQ(image->pixels.dim(2), 4);
  EXPECT_THAT(image->warnings.first, HasSubstr("tRNS: CRC error"));
}

TEST(DecodePngFaults, Row55SizesAreCheckedBeforeMemoryIsAskedFor) {
  for (const auto& [width, height] : {std::pair{0U, 3U}, {5U, 0U}, {0U, 0U}, {0x80000000U, 1U}, {1U, 0xffffffffU}}) {
    expect_error(file_of(header_of(width, height, 0, 8), kImage.data()), ErrorKind::InvalidArgument, "an image of");
  }
  for (const auto& [width, height] : {std::pair{0x7fffffffU, 0x7fffffffU}, {0x7fffffffU, 1U}, {8001U, 8000U}}) {
    expect_error(file_of(header_of(width, height, 6, 16), kImage.data()), ErrorKind::ResourceExhausted,
                 "the limit of 64000000");
  }
  for (const auto& rest : {std::string("\1\0\0", 3), std::string("\0\1\0", 3), std::string("\0\0\2", 3)}) {
    expect_error(file_of(header_of(5, 3, 0, 8, rest), kImage.data()), ErrorKind::InvalidArgument, "at most 1 exist");
  }
  for (int type = 0; type < 8; ++type) {
    for (int depth = 0; depth <= 255; ++depth) {
      const auto known = [&](const auto& kind) { return kind.first == type && kind.second == depth; };
      const bool exists = std::any_of(test::kPngKinds.begin(), test::kPngKinds.end(), known);
      const auto bytes = to_bytes(file_of(header_of(5, 3, type, depth), png_chunk("PLTE", "abc") + kImage.data()));
      EXPECT_EQ(png_info(bytes, bytes.size()).has_value(), exists) << type << " " << depth;
    }
  }
}

TEST(DecodePngFaults, Row55AndRow57ASmallFileThatAsksForMuchMemoryIsRefused) {
  expect_error(file_of(header_of(8000, 8000, 6, 16), kImage.data()), ErrorKind::DataLoss,
               "bytes of IDAT cannot hold an image of 8000 x 8000 pixels of 64 bits");
  expect_error(file_of(header_of(8000, 8000, 6, 16, std::string("\0\0\1", 3)), kImage.data()), ErrorKind::DataLoss,
               "cannot hold");
  const auto widest = to_bytes(file_of(header_of(1U << 30, 1U << 30, 6, 16, std::string("\0\0\1", 3)), kImage.data()));
  EXPECT_EQ(decode_png(widest, {.max_pixels = INT64_MAX}).error().kind(), ErrorKind::DataLoss);
  const std::string huge = file_of(header_of(8000, 8000, 6, 16), kImage.data());
  BufferPool pool;
  const CurrentPool current(pool);
  EXPECT_FALSE(read(huge));
  EXPECT_EQ(pool.stats().allocations, 0);
  const PngImageOf blank = {4000, 4000, 0, 1};
  const std::string zeros = png_chunk("IDAT", deflated(std::string(4000 * 501, '\0')));
  EXPECT_LT(zeros.size(), 2500U);
  const auto image = read(file_of(blank.header(), zeros));
  ASSERT_TRUE(image) << image.error();
  EXPECT_EQ(image->pixels.byte_size(), 16'000'000U);
}

TEST(DecodePngFaults, Row56TooLittleImageDataIsDataLossAndTooMuchIsCounted) {
  const std::string raw = kImage.raw(), data = deflated(raw);
  const auto file = [](const std::string& body) { return file_of(kImage.header(), png_chunk("IDAT", body)); };
  expect_error(file(deflated(raw.substr(0, raw.size() - 1))), ErrorKind::DataLoss, "ot enough");
  for (size_t size = 0; size < data.size(); ++size) {
    const auto image = read(file(data.substr(0, size)));
    ASSERT_FALSE(image) << size;
    EXPECT_EQ(image.error().kind(), ErrorKind::DataLoss) << image.error();
  }
  for (size_t i = 1; i <= 4; ++i) {
    expect_error(file(with(data, data.size() - i, static_cast<char>(data[data.size() - i] ^ 1))), ErrorKind::DataLoss,
                 "incorrect data check");
  }
  expect_warning(file(deflated(raw + "more")), "IDAT");
  expect_warning(file(data + "more"), "IDAT");
  expect_warning(file(data + data), "IDAT");
  expect_warning(file_of(kImage.header(), png_chunk("IDAT", data) + png_chunk("IDAT", data)), "IDAT");
  expect_warning(kPngSignature + kImage.header() + kImage.data() + png_chunk("tEXt", "a") + kImage.data() + kEnd,
                 "IDAT");
  EXPECT_EQ(read(file_of(kImage.header(), kImage.data() + png_chunk("IDAT", "")))->warnings.count, 0);
  expect_error(file(with(data, 0, '\x79')), ErrorKind::DataLoss, "IDAT");
  expect_error(file(deflated("\5" + raw.substr(1))), ErrorKind::DataLoss, "filter");
}

TEST(DecodePngFaults, Row57BombsAndManyChunksAreRefusedAndTextIsNotInflated) {
  const std::string bomb = std::string("key\0\0", 5) + deflated(std::string(100 << 20, 'x'));
  const std::string profile = std::string("icc\0\0", 5) + deflated(std::string(10 << 20, 'x'));
  const auto image = read(kImage.file(png_chunk("zTXt", bomb) + png_chunk("iCCP", profile)));
  ASSERT_TRUE(image) << image.error();
  EXPECT_EQ(image->warnings.count, 0);
  std::string many;
  for (int i = 0; i < 126; ++i) many += png_chunk("tEXt", "a");
  EXPECT_TRUE(read(kImage.file(many)));
  expect_error(kImage.file(many + png_chunk("tEXt", "a")), ErrorKind::ResourceExhausted,
               "more than 128 chunks besides IDAT");
  expect_error(kImage.file("", many + many), ErrorKind::ResourceExhausted, "more than 128 chunks");
  EXPECT_TRUE(read(kImage.file(png_chunk("tEXt", std::string(8'000'000, 'x')))));
  expect_error(kImage.file(png_chunk("tEXt", std::string(8'000'001, 'x'))), ErrorKind::ResourceExhausted,
               "chunk tEXt at offset 33 has 8000001 bytes");
}

// Image data of one byte a chunk, with empty ones between.
std::string pieces_of(const std::string& data) {
  std::string pieces;
  for (const char c : data) pieces += png_chunk("IDAT", std::string(1, c)) + png_chunk("IDAT", "");
  return pieces;
}

TEST(DecodePngFaults, Row56AndRow57ImageDataInManyPiecesAreCheckedToTheirEnd) {
  const std::string data = deflated(kImage.raw());
  const auto image = read(file_of(kImage.header(), pieces_of(data)));
  ASSERT_TRUE(image) << image.error();
  EXPECT_EQ(image->warnings.count, 0) << image->warnings.first;
  EXPECT_EQ(image->pixels.as<uint8_t>()[14], kImage.value(2, 4, 0));
  for (size_t i = 1; i <= 4; ++i) {
    const std::string wrong = with(data, data.size() - i, static_cast<char>(data[data.size() - i] ^ 1));
    expect_error(file_of(kImage.header(), pieces_of(wrong)), ErrorKind::DataLoss, "incorrect data check");
  }
  for (size_t size = 0; size < data.size(); ++size) {
    const auto cut = read(file_of(kImage.header(), pieces_of(data.substr(0, size)) + png_chunk("IDAT", "")));
    ASSERT_FALSE(cut) << size;
    EXPECT_EQ(cut.error().kind(), ErrorKind::DataLoss) << cut.error();
  }
  expect_warning(file_of(kImage.header(), pieces_of(data + "more")), "IDAT: Extra compressed data");
  const std::string damaged_last = with(pieces_of(data), pieces_of(data).size() - 12 - 1, '\0');
  expect_error(file_of(kImage.header(), damaged_last), ErrorKind::DataLoss, "chunk IDAT at offset");
}

TEST(DecodePngFaults, Row56DataDamagedAfterTheLastRowAreDataLoss) {
  const std::string raw = kImage.raw(), size = {static_cast<char>(raw.size()), '\0'};
  const std::string sizes = size + static_cast<char>(~raw.size()) + '\xff';
  const std::string stored = std::string("\x78\x01\0", 3) + sizes + raw;
  const auto file = [](const std::string& body) { return file_of(kImage.header(), png_chunk("IDAT", body)); };
  std::string blocks = stored;
  for (int i = 0; i < 10'000; ++i) blocks += std::string("\0\0\0\xff\xff", 5);
  blocks += std::string("\1\0\0\xff\xff", 5);
  const auto check = adler32(1, reinterpret_cast<const Bytef*>(raw.data()), static_cast<uInt>(raw.size()));
  const std::string good = blocks + big_endian(static_cast<uint32_t>(check));
  EXPECT_EQ(read(file(good))->warnings.count, 0);
  expect_error(file(blocks + "none"), ErrorKind::DataLoss, "incorrect data check");
  expect_error(file(good.substr(0, good.size() - 1)), ErrorKind::DataLoss, "ot enough");
  expect_warning(file(good + "more"), "Extra compressed data");
  expect_error(file(stored + "\7"), ErrorKind::DataLoss, "invalid block type");
  expect_error(file(stored + std::string("\1\1\0\1\0", 5)), ErrorKind::DataLoss, "invalid stored block lengths");
}

TEST(DecodePngFaults, Row58AnIndexBeyondThePaletteIsBlack) {
  const PngImageOf image = {37, 19, 3, 4};
  const std::string file = kPngSignature + image.header() + png_chunk("PLTE", "abc") + image.data() + kEnd;
  const auto decoded = read(file);
  ASSERT_TRUE(decoded) << decoded.error();
  EXPECT_EQ(decoded->warnings.count, 0);
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      const auto pixel = decoded->pixels.as<uint8_t>().subspan((y * image.width + x) * 3, 3);
      EXPECT_EQ(std::string(pixel.begin(), pixel.end()), image.value(y, x, 0) == 0 ? "abc" : std::string(3, '\0'));
    }
  }
}

TEST(DecodePngFaults, Row58PalettesAndTransparencyThatDoNotFitAreRefusedOrIgnored) {
  const PngImageOf image = {.color_type = 3, .bit_depth = 2};
  const auto file = [&](const std::string& before) {
    return kPngSignature + image.header() + before + image.data() + kEnd;
  };
  expect_error(file(""), ErrorKind::InvalidArgument, "chunk IDAT at offset 33: no PLTE before it");
  for (const size_t size : {0, 1, 4, 3 * 257}) {
    expect_error(file(png_chunk("PLTE", std::string(size, 'x'))), ErrorKind::InvalidArgument, "1 to 256 colours");
  }
  for (const uint32_t alphas : {5, 300}) {
    const auto decoded = read(image.file(image.transparency(alphas)));
    ASSERT_TRUE(decoded) << decoded.error();
    EXPECT_EQ(decoded->pixels.dim(2), 3);
    EXPECT_EQ(decoded->warnings.count, 1);
    EXPECT_THAT(decoded->warnings.first, HasSubstr("tRNS"));
  }
  const auto early =
      read(kPngSignature + image.header() + image.transparency(2) + image.palette() + image.data() + kEnd);
  ASSERT_TRUE(early) << early.error();
  EXPECT_EQ(early->pixels.dim(2), 3);
  EXPECT_LE(early->warnings.count, 1);
  const PngImageOf wide = {.color_type = 3, .bit_depth = 4};
  for (const uint32_t alphas : {4, 5}) {
    const auto longer =
        read(kPngSignature + image.header() + wide.palette() + image.transparency(alphas) + image.data() + kEnd);
    ASSERT_TRUE(longer) << longer.error();
    EXPECT_EQ(longer->pixels.dim(2), alphas == 4 ? 4 : 3) << "16 colours, of which 2 bits reach 4";
    EXPECT_EQ(longer->warnings.count, alphas == 4 ? 0 : 1);
  }
}

TEST(DecodePngFaults, ChunksAtWrongPlacesAreRefused) {
  const PngImageOf palette = {.color_type = 3};
  const PngImageOf color = {.color_type = 2};
  const std::string colors = png_chunk("PLTE", "abcdef");
  expect_error(palette.file(palette.palette()), ErrorKind::InvalidArgument, "a second chunk PLTE at offset 813");
  expect_error(palette.file("", colors), ErrorKind::InvalidArgument, "comes after the image");
  expect_error(color.file("", colors), ErrorKind::InvalidArgument, "chunk PLTE at offset");
  expect_error(color.file(colors + colors), ErrorKind::InvalidArgument, "a second chunk PLTE at offset 51");
  EXPECT_EQ(read(color.file(colors))->warnings.count, 0);
  expect_error(kImage.file(kImage.header()), ErrorKind::InvalidArgument, "a second chunk IHDR at offset 33");
  expect_error(kImage.file("", kImage.header()), ErrorKind::InvalidArgument, "a second chunk IHDR");
  expect_error(kImage.file(png_chunk("ABCD", "")), ErrorKind::InvalidArgument,
               "chunk ABCD at offset 33 is an unknown critical chunk");
  expect_error(kImage.file("", png_chunk("ABCD", "")), ErrorKind::InvalidArgument, "chunk ABCD at offset");
  expect_error(kPngSignature + png_chunk("tEXt", "0123456789abc") + kImage.file().substr(8), ErrorKind::InvalidArgument,
               "IHDR of 13");
  expect_error(kImage.file(png_chunk("a\x01yz", "")), ErrorKind::DataLoss,
               "no chunk at offset 33: its type is 61 01 79 7a");
}

const std::string kAnimation = png_chunk("acTL", big_endian(2) + big_endian(0));

TEST(DecodePngFaults, Row61AnAnimationGivesItsFirstImageAlsoCut) {
  const std::string control = png_chunk("fcTL", std::string(26, '\0'));
  const std::string frame = control + png_chunk("fdAT", big_endian(1) + deflated(kImage.raw()));
  std::string frames;
  for (int i = 0; i < 200; ++i) frames += frame;
  const std::string file = kImage.file(kAnimation + control, frames);
  const size_t first = file.find("IDAT") + 4 + deflated(kImage.raw()).size() + 4;
  for (size_t size = first; size < first + 3 * frame.size(); ++size) {
    const auto image = read(file.substr(0, size));
    ASSERT_TRUE(image) << image.error();
    EXPECT_EQ(image->pixels.as<uint8_t>()[1], kImage.value(0, 1, 0));
    EXPECT_EQ(image->warnings.count, 0) << image->warnings.first;
  }
  EXPECT_TRUE(read(file));
  EXPECT_FALSE(read(file.substr(0, first - 1)));
}

TEST(DecodePngFaults, EveryCutIsRefused) {
  const PngImageOf palette = {.color_type = 3, .bit_depth = 1};
  for (const std::string& file : {kImage.file(png_chunk("tEXt", "abc")), palette.file(palette.transparency(1))}) {
    for (size_t size = 0; size < file.size(); ++size) {
      const auto image = read(file.substr(0, size));
      ASSERT_FALSE(image) << size;
      EXPECT_EQ(image.error().kind(), ErrorKind::DataLoss) << image.error();
    }
  }
}

TEST(DecodePngFaults, EveryFlippedBitIsRefusedOrCounted) {
  const PngImageOf palette = {.color_type = 3, .bit_depth = 1, .is_interlaced = true};
  for (const std::string& file : {kImage.file(png_chunk("tEXt", "abc")), palette.file(palette.transparency(1))}) {
    for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
      const auto image = read(with(file, bit / 8, static_cast<char>(file[bit / 8] ^ 1 << bit % 8)));
      EXPECT_FALSE(image && image->warnings.count == 0) << bit;
    }
  }
}

TEST(DecodePngFaults, OtherFilesAreNamedByTheirFirstBytes) {
  expect_error("\xff\xd8\xff\xe0 and so on", ErrorKind::InvalidArgument, "it begins with ff d8 ff e0 20 61 6e 64");
  expect_error("<html>", ErrorKind::InvalidArgument, "3c 68 74 6d 6c 3e");
  expect_error(std::string(100, '\0'), ErrorKind::InvalidArgument, "00 00 00");
  expect_error("", ErrorKind::DataLoss, "the file ends at 0");
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
// Decoding a PNG takes no more memory than its pixels and 2 MiB, and of some kinds of images, such as interlaced
// ones, its compressed data once more (headpond/codec/image/png.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headpond/codec/image/png.h"
#include "headpond/codec/image/png_test_internal.h"
#include "tests/memory/allocations.h"

namespace headpond::test {
namespace {

constexpr uint32_t kHeight = 1024, kWidth = 1024;
constexpr int64_t kMore = 2 << 20;

// The pixels' own memory is the caller's, so it isn't part of this.
int64_t peak_bytes(const std::string& file, const PngOptions& options = {}) {
  const auto bytes_of_file = std::as_bytes(std::span(file));
  const auto info = png_info(bytes_of_file, file.size(), options);
  EXPECT_TRUE(info) << info.error();
  const int channels = options.channels == 0 ? info->channels : options.channels;
  std::vector<std::byte> pixels(static_cast<size_t>(info->height * info->width * channels));
  const PeakBytes peak;
  const auto warnings = decode_png_into(bytes_of_file, pixels, options);
  const int64_t bytes = peak.bytes();
  EXPECT_TRUE(warnings) << warnings.error();
  return bytes;
}

PngImageOf color(bool is_interlaced) { return {kWidth, kHeight, 2, 8, is_interlaced, 1}; }

// The compressed data are as long as the values, and in chunks of `size`.
std::string long_file(const PngImageOf& image, size_t size) {
  const std::string raw = image.raw();
  uLongf bytes = compressBound(static_cast<uLong>(raw.size()));
  std::string data(bytes, '\0');
  compress2(reinterpret_cast<Bytef*>(data.data()), &bytes, reinterpret_cast<const Bytef*>(raw.data()),
            static_cast<uLong>(raw.size()), 0);
  data.resize(bytes);
  std::string file = kPngSignature + image.header();
  for (size_t at = 0; at < data.size(); at += size) file += png_chunk("IDAT", data.substr(at, size));
  return file + png_chunk("IEND", "");
}

// The control is the file's size: a copy of it would be seen.
TEST(PngMemory, IsThatOfAFewRowsInOneChunkAndInMany) {
  for (const size_t size : {SIZE_MAX, size_t{8192}}) {  // As encoders write it.
    const std::string file = long_file(color(false), size);
    ASSERT_GT(static_cast<int64_t>(file.size()), kMore);
    EXPECT_LE(peak_bytes(file), kMore) << size;
  }
}

TEST(PngMemory, OfOtherKindsToo) {
  for (const auto& [type, depth] : kPngKinds) {
    EXPECT_LE(peak_bytes(PngImageOf{kWidth, 64, type, depth}.file()), kMore) << type << ", " << depth;
  }
}

// The control is the lower bound: the copy of the data is measured, so a second one would be seen.
TEST(PngMemory, OfManyChunksOfAnInterlacedImageIsThatOfTheirDataOnce) {
  const std::string file = long_file(color(true), 8192);
  const auto bytes = static_cast<int64_t>(file.size());
  const int64_t peak = peak_bytes(file);
  EXPECT_GE(peak, bytes * 99 / 100);
  EXPECT_LE(peak, bytes + kMore);
}

TEST(PngMemory, OfInterlacedColourAsGreyIsThatOfTheColour) {
  const int64_t all = int64_t{3} * kHeight * kWidth, peak = peak_bytes(color(true).file(), {.channels = 1});
  EXPECT_GE(peak, all);
  EXPECT_LE(peak, all + kMore);
}

}  // namespace
}  // namespace headpond::test

// SPDX-License-Identifier: Apache-2.0
// Decoding a JPEG takes no more memory than its pixels, its coefficients if they are kept, and 2 MiB.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/jpeg_test_internal.h"
#include "tests/memory/allocations.h"

namespace headpond::test {
namespace {

constexpr int64_t kHeight = 1024, kWidth = 1536;  // Of whole blocks, also of halved chroma.
constexpr int64_t kMore = 2 << 20;

// Of 16 bits each; `halves`: chroma has half the rows and columns.
constexpr int64_t coefficient_bytes(bool halves) { return 2 * kHeight * kWidth * (halves ? 3 : 6) / 2; }

// The pixels' own memory is the caller's, so it isn't part of this.
int64_t peak_bytes(std::span<const std::byte> file) {
  std::vector<std::byte> pixels(static_cast<size_t>(kHeight * kWidth * 3));
  const PeakBytes peak;
  const auto warnings = decode_jpeg_into(file, pixels);
  const int64_t bytes = peak.bytes();
  EXPECT_TRUE(warnings) << warnings.error();
  return bytes;
}

std::vector<std::byte> file_of(bool halves, bool is_progressive) {
  const Tensor image = jpeg_testing::noisy_picture(kHeight, kWidth, 3, 40, 1);
  return encode_jpeg(image, {.chroma_downsampling = halves, .progressive = is_progressive}).value();
}

TEST(JpegMemory, OfABaselineFileIsThatOfAFewRows) {
  for (const bool halves : {false, true}) EXPECT_LE(peak_bytes(file_of(halves, false)), kMore);
}

TEST(JpegMemory, OfABaselineFileWithAnySamplingToo) {
  const Tensor image = jpeg_testing::noisy_picture(kHeight, kWidth, 3, 40, 1);
  for (const int across : {1, 2, 4}) {
    EXPECT_LE(peak_bytes(jpeg_testing::write_jpeg(image, {.across = across, .down = 2})), kMore);
  }
}

// The control is the lower bound: what libjpeg allocates is measured, so keeping more than once would be seen.
TEST(JpegMemory, OfAProgressiveFileIsThatOfItsCoefficients) {
  for (const bool halves : {false, true}) {
    const int64_t bytes = peak_bytes(file_of(halves, true));
    EXPECT_GE(bytes, coefficient_bytes(halves));
    EXPECT_LE(bytes, coefficient_bytes(halves) + kMore);
  }
}

}  // namespace
}  // namespace headpond::test

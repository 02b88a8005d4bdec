// SPDX-License-Identifier: Apache-2.0
// What is refused before pixels are decoded.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "headpond/codec/image/jpeg.h"

namespace headpond {
namespace {
using File = std::vector<std::byte>;

Tensor zeros() { return Tensor::from(std::vector<uint8_t>(768), {16, 16, 3}); }

TEST(JpegLimits, LimitsAndKindsAreKnownBeforeDecoding) {
  const auto kind = [](const File& file, const JpegOptions& options = {}) {
    const auto image = decode_jpeg(file, options);
    return image ? ErrorKind::NotFound : image.error().kind();
  };
  const File file = encode_jpeg(zeros()).value(), progressive = encode_jpeg(zeros(), {.progressive = true}).value();
  EXPECT_EQ(kind(file, {.max_pixels = 255}), ErrorKind::ResourceExhausted);
  EXPECT_EQ(kind(file, {.max_memory = 1023}), ErrorKind::ResourceExhausted);
  EXPECT_EQ(kind(progressive, {.max_memory = 1024 + 767}), ErrorKind::ResourceExhausted);
  EXPECT_EQ(kind(progressive, {.max_scans = 5}), ErrorKind::ResourceExhausted);
  EXPECT_EQ(kind(file, {.ratio = 3}), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind(file, {.channels = 2}), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind(File(10)), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind({}), ErrorKind::DataLoss);
  constexpr std::array kFrame = {std::byte{0xff}, std::byte{0xc0}};
  const auto frame = std::search(file.begin(), file.end(), kFrame.begin(), kFrame.end()) - file.begin();
  for (const int marker : {0xc3, 0xc5, 0xc9, 0xca, 0xcf}) {
    File other = file;
    other[static_cast<size_t>(frame) + 1] = static_cast<std::byte>(marker);
    EXPECT_EQ(kind(other), ErrorKind::Unimplemented) << marker;
  }
  EXPECT_EQ(decode_and_crop_jpeg(file, {0, 0, 17, 1}).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(decode_and_crop_jpeg(file, {0, 0, 0, 1}).error().kind(), ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace headpond

// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/kernels/crop_only_jpeg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "headpond/codec/image/jpeg.h"

namespace headpond::cli {
namespace {

TEST(CropOnlyJpeg, HasThePixelsOfTheWholeRows) {
  if (!has_jpeg()) GTEST_SKIP() << "this build has no component jpeg; with CI=true Components.Jpeg then fails";
  std::vector<uint8_t> values(size_t{64} * 48 * 3);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i / 3);
  const auto file = encode_jpeg(Tensor::from(values, {48, 64, 3})).value();
  const ImageWindow window = {.y = 5, .x = 0, .height = 20, .width = 64};
  std::vector<uint8_t> pixels;
  ASSERT_TRUE(decode_crop_only(file, window, pixels));
  const auto expected = decode_and_crop_jpeg(file, window).value();
  EXPECT_EQ(std::memcmp(pixels.data(), expected.pixels.data(), expected.pixels.byte_size()), 0);
}

TEST(CropOnlyJpeg, RefusesWhatIsNoJpeg) {
  const std::vector<std::byte> file(100);
  std::vector<uint8_t> pixels;
  EXPECT_FALSE(decode_crop_only(file, {0, 0, 1, 1}, pixels));
}

}  // namespace
}  // namespace headpond::cli

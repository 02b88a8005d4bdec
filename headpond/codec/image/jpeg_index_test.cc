// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/jpeg_index.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "headpond/codec/image/baseline/scan_index_internal.h"
#include "headpond/codec/image/jpeg_test_internal.h"

namespace headpond {
namespace {

using jpeg_testing::noisy_picture;
using jpeg_testing::write_jpeg;
using jpeg_testing::WriteOptions;
using testing::HasSubstr;
using JpegFile = std::vector<std::byte>;

class JpegIndex : public testing::Test {
 protected:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_.below(static_cast<uint64_t>(n))); }

  JpegFile file(int64_t most) {
    WriteOptions options = {.quality = static_cast<int>(1 + below(100))};
    options.across = static_cast<int>(1 + below(2));
    options.down = static_cast<int>(1 + below(2));
    options.restart = below(3) == 0 ? static_cast<int>(1 + below(9)) : 0;
    options.optimize = below(2) == 0;
    const auto noise = static_cast<uint64_t>(1 + below(256)), seed = static_cast<uint64_t>(below(1'000));
    return write_jpeg(noisy_picture(1 + below(most), 1 + below(most), below(5) == 0 ? 1 : 3, noise, seed), options);
  }

  ImageWindow window(int64_t height, int64_t width) {
    if (below(8) == 0) return {0, 0, height, width};
    ImageWindow part = {below(height), below(width)};
    part.height = 1 + below(height - part.y);
    part.width = 1 + below(width - part.x);
    return part;
  }

  Random random_{23};
};

// The window of the whole image's pixels.
std::vector<uint8_t> cropped(const Tensor& pixels, const ImageWindow& part) {
  std::vector<uint8_t> found;
  const auto row = static_cast<size_t>(pixels.dim(1) * pixels.dim(2)), pixel = static_cast<size_t>(pixels.dim(2));
  for (int64_t y = part.y; y < part.y + part.height; ++y) {
    const auto from = pixels.as<uint8_t>().subspan(static_cast<size_t>(y) * row + static_cast<size_t>(part.x) * pixel,
                                                   static_cast<size_t>(part.width) * pixel);
    found.insert(found.end(), from.begin(), from.end());
  }
  return found;
}

// As if the index had been made of this file.
JpegFile marked(const JpegFile& index, const JpegFile& file) {
  jpeg_internal::ScanIndex read;
  EXPECT_TRUE(jpeg_internal::read_index(index, "a.jpg", read));
  jpeg_internal::mark_file(file, read);
  return to_bytes(read);
}

TEST_F(JpegIndex, GivesThePixelsOfTheWholeImageCropped) {
  for (int i = 0; i < 300; ++i) {
    const JpegFile made = file(90);
    JpegOptions options = {.channels = below(4) == 0 ? 1 : 3, .fancy_upscaling = below(4) != 0};
    if (below(10) == 0) options.ratio = 2;
    const auto whole = decode_jpeg(made, options).value();
    const ImageWindow part = window(whole.pixels.dim(0), whole.pixels.dim(1));
    const JpegFile index = jpeg_index(made, below(6)).value();
    ASSERT_FALSE(index.empty());
    const auto found = decode_indexed_jpeg(made, index, part, options);
    ASSERT_TRUE(found) << found.error();
    ASSERT_EQ(std::ranges::equal(found->pixels.as<uint8_t>(), cropped(whole.pixels, part)), true) << i;
    EXPECT_EQ(found->warnings.count, 0);
    EXPECT_EQ(found->warnings.rows, part.height);
  }
}

TEST_F(JpegIndex, ReadsOnlyWhatTheRegionNeeds) {
  for (const int restart : {0, 5}) {
    const JpegFile good = write_jpeg(noisy_picture(96, 128, 3, 60, 3), {.restart = restart});
    const JpegFile index = jpeg_index(good, 2).value();
    const ImageWindow part = {50, 70, 20, 30};
    const auto expected = decode_and_crop_jpeg(good, part).value();
    // The first row of MCUs, and the last.
    JpegFile damaged = good;
    const auto scan = static_cast<size_t>(
        std::ranges::search(good, std::array{std::byte{0xff}, std::byte{0xda}}).begin() - good.begin());
    for (const size_t at : {scan + 40, good.size() - 40}) {
      damaged[at] = std::byte{0xff};
      damaged[at + 1] = std::byte{0xd3};
    }
    EXPECT_FALSE(decode_and_crop_jpeg(damaged, part)) << "control: without an index it is read";
    const auto found = decode_indexed_jpeg(damaged, marked(index, damaged), part);
    ASSERT_TRUE(found) << found.error();
    EXPECT_TRUE(std::ranges::equal(found->pixels.as<uint8_t>(), expected.pixels.as<uint8_t>()));
  }
}

TEST_F(JpegIndex, PointsThatDoNotMeetAreFound) {
  const JpegFile made = write_jpeg(noisy_picture(64, 96, 3, 60, 3));
  jpeg_internal::ScanIndex index;
  ASSERT_TRUE(jpeg_internal::read_index(jpeg_index(made, 2).value(), "a.jpg", index));
  const ImageWindow part = {0, 0, 64, 96};
  EXPECT_TRUE(decode_indexed_jpeg(made, to_bytes(index), part)) << "control";
  for (size_t i = 1; i < index.points.size(); ++i) {
    if (i % 3 == 0) continue;  // The first of a row.
    jpeg_internal::ScanIndex other = index;
    if (i % 2 == 0) other.points[i].bit += 1;
    if (i % 2 == 1) other.points[i].dc[i % 3] += 1;
    const auto found = decode_indexed_jpeg(made, to_bytes(other), part, {}, "a.jpg");
    ASSERT_FALSE(found) << i;
    EXPECT_EQ(found.error().kind(), ErrorKind::DataLoss);
    EXPECT_THAT(found.error().message(), HasSubstr("a.jpg: the index leads to other values than the file has"));
  }
  index.points_a_row *= 2;
  index.rows /= 2;
  EXPECT_EQ(decode_indexed_jpeg(made, to_bytes(index), part).error().kind(), ErrorKind::DataLoss);
}

TEST_F(JpegIndex, OfAnotherFileIsRefusedAndADamagedOneToo) {
  const JpegFile made = write_jpeg(noisy_picture(40, 40, 3, 60, 3)),
                 other = write_jpeg(noisy_picture(40, 40, 3, 60, 4));
  JpegFile index = jpeg_index(other, 1).value();
  const ImageWindow part = {8, 8, 16, 16};
  const auto found = decode_indexed_jpeg(made, index, part, {}, "a.jpg");
  EXPECT_EQ(found.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(found.error().message(), HasSubstr("a.jpg: the index is of another file, of "));
  EXPECT_TRUE(decode_indexed_jpeg(other, index, part)) << "control";
  index[30] ^= std::byte{1};
  EXPECT_EQ(decode_indexed_jpeg(other, index, part).error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(decode_indexed_jpeg(other, jpeg_index(other, 1).value(), {8, 8, 60, 1}).error().kind(),
            ErrorKind::InvalidArgument);
}

TEST_F(JpegIndex, IsEmptyForFilesThatHaveNone) {
  const Tensor color = noisy_picture(40, 56, 3, 40, 1), inks = noisy_picture(20, 30, 4, 20, 1);
  const JpegFile whole = write_jpeg(color), progressive = write_jpeg(color, {.progressive = true});
  EXPECT_FALSE(jpeg_index(whole)->empty()) << "control";
  EXPECT_TRUE(jpeg_index(progressive)->empty());
  EXPECT_TRUE(jpeg_index(write_jpeg(color, {.across = 4, .down = 1}))->empty());
  EXPECT_TRUE(jpeg_index(write_jpeg(inks, {.across = 1, .down = 1, .space = JCS_CMYK}))->empty());
  EXPECT_TRUE(jpeg_index({})->empty());
  for (size_t i = 1; i < 16; ++i) {
    EXPECT_TRUE(jpeg_index(std::span(whole).first(whole.size() * i / 16))->empty());
    if (i < 8) continue;  // Markers, where anything may be in place of anything.
    JpegFile damaged = whole;
    damaged[whole.size() * i / 16] = std::byte{0xff};
    damaged[whole.size() * i / 16 + 1] = std::byte{0xd9};
    EXPECT_TRUE(jpeg_index(damaged)->empty());
  }
  const ImageWindow part = {4, 4, 10, 20};
  const auto expected = decode_and_crop_jpeg(progressive, part).value();
  const auto found = decode_indexed_jpeg(progressive, {}, part).value();
  EXPECT_TRUE(std::ranges::equal(found.pixels.as<uint8_t>(), expected.pixels.as<uint8_t>()));
  EXPECT_EQ(jpeg_index(whole, -1).error().kind(), ErrorKind::InvalidArgument);
}

TEST_F(JpegIndex, IsSmall) {
  const JpegFile made = write_jpeg(noisy_picture(375, 500, 3, 30, 2));
  const auto row = jpeg_index(made, 0)->size(), eight = jpeg_index(made, 8)->size();
  EXPECT_LT(row, made.size() / 150);
  EXPECT_LT(eight, made.size() / 25);
  EXPECT_EQ(jpeg_index(made, 1'000).value(), jpeg_index(made, 0).value()) << "beyond a row";
}

}  // namespace
}  // namespace headpond

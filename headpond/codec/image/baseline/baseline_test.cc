// SPDX-License-Identifier: Apache-2.0
// The pixels and verdicts of the decoder of baseline files are those of libjpeg-turbo.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "headpond/codec/image/baseline/baseline_internal.h"
#include "headpond/codec/image/baseline/sample_loops_internal.h"
#include "headpond/codec/image/jpeg_internal.h"
#include "headpond/codec/image/jpeg_test_internal.h"

namespace headpond::jpeg_internal {
namespace {

using jpeg_testing::noisy_picture;
using jpeg_testing::write_jpeg;
using jpeg_testing::WriteOptions;
using JpegFile = std::vector<std::byte>;

class Baseline : public testing::Test {
 protected:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_.below(static_cast<uint64_t>(n))); }

  JpegFile file(int64_t most) {
    WriteOptions options = {.quality = static_cast<int>(1 + below(100))};
    options.across = static_cast<int>(1 + below(2));
    options.down = static_cast<int>(1 + below(2));
    options.restart = below(3) == 0 ? static_cast<int>(1 + below(9)) : 0;
    options.optimize = below(2) == 0;
    const int64_t height = 1 + below(below(3) == 0 ? 20 : most), width = 1 + below(below(3) == 0 ? 20 : most);
    const auto noise = static_cast<uint64_t>(1 + below(256)), seed = static_cast<uint64_t>(below(1'000));
    return write_jpeg(noisy_picture(height, width, below(5) == 0 ? 1 : 3, noise, seed), options);
  }

  ImageWindow window(int64_t height, int64_t width) {
    if (below(4) == 0) return {0, 0, height, width};
    ImageWindow part = {below(height), below(width)};
    part.height = 1 + below(height - part.y);
    part.width = 1 + below(width - part.x);
    return part;
  }

  // Nothing iff the decoder gives up.
  std::vector<uint8_t> decoded(const JpegFile& file, const BaselineOptions& options) {
    const ImageWindow& part = options.part;
    const auto row_bytes = static_cast<size_t>(part.width * options.channels);
    std::vector<uint8_t> pixels(row_bytes * static_cast<size_t>(part.height));
    const bool is_done = decoder_.decode(file, options, [&](int64_t y, const uint8_t* row) {
      std::memcpy(&pixels.at(static_cast<size_t>(y) * row_bytes), row, row_bytes);
    });
    if (!is_done) pixels.clear();
    return pixels;
  }

  struct Part {
    JpegFile file;
    BaselineOptions options;
  };
  // A part of a file that may be damaged.
  Part some_part(int64_t most) {
    Part part = {file(most), {}};
    const auto info = jpeg_info(part.file, part.file.size());
    part.options = {.part = window(info->height, info->width), .channels = below(4) == 0 ? 1 : 3};
    part.options.fancy = below(4) != 0;
    part.options.to_end = below(3) == 0;
    const auto from = static_cast<int64_t>(part.file.size()) / 2;
    const auto at = static_cast<size_t>(from + below(from));
    switch (below(6)) {
      case 0:
        part.file[at] ^= static_cast<std::byte>(1 << below(8));
        break;
      case 1:
        part.file.resize(at);
        break;
      case 2:
        part.file[at] = std::byte{0xff};
        break;
      default:
        break;
    }
    return part;
  }

  // Both at once.
  std::array<std::vector<uint8_t>, 2> decoded_at_once(const Part& first, const Part& second) {
    std::array<std::vector<uint8_t>, 2> pixels;
    const auto work = [&](BaselineDecoder& decoder, const Part& part, std::vector<uint8_t>& to) {
      const auto row_bytes = static_cast<size_t>(part.options.part.width * part.options.channels);
      to.resize(row_bytes * static_cast<size_t>(part.options.part.height));
      return BaselineDecoder::Work{decoder, part.file, part.options, [&to, row_bytes](int64_t y, const uint8_t* row) {
                                     std::memcpy(&to.at(static_cast<size_t>(y) * row_bytes), row, row_bytes);
                                   }};
    };
    const auto done = BaselineDecoder::decode_two(work(decoder_, first, pixels[0]), work(*other_, second, pixels[1]));
    if (!done[0]) pixels[0].clear();
    if (!done[1]) pixels[1].clear();
    return pixels;
  }

  // The number of files of which a random part differs from libjpeg's, or that the decoder gives up.
  int count_differing(int files, int64_t most, const SampleCode* code) {
    int differing = 0;
    for (int i = 0; i < files; ++i) {
      const JpegFile made = file(most);
      const auto info = jpeg_info(made, made.size());
      BaselineOptions options = {.part = window(info->height, info->width), .channels = below(4) == 0 ? 1 : 3};
      options.fancy = below(4) != 0;
      options.code = code;
      const JpegOptions same = {.channels = options.channels, .fancy_upscaling = options.fancy};
      const auto expected = decode_part(made, options.part, same, "a.jpg", {.by_library = true});
      const auto pixels = decoded(made, options);
      differing += !expected || !std::ranges::equal(pixels, expected->pixels.as<uint8_t>());
    }
    return differing;
  }

  JpegOptions with(JpegDamage damage, JpegCheck check) {
    JpegOptions options = {.damage = damage, .acceptable_fraction = 0, .check = check, .max_pixels = 1 << 16};
    return options;
  }

  // A result as text: pixels, warnings, or the error.
  static std::string text_of(const Result<JpegImage>& image) {
    if (!image) return image.error().message();
    const auto values = image->pixels.as<uint8_t>();
    return image->warnings.first + std::to_string(image->warnings.count) + "," + std::to_string(image->warnings.rows) +
           std::string(values.begin(), values.end());
  }

  void expect_the_same(const JpegFile& file) {
    const auto info = jpeg_info(file, file.size(), {.max_pixels = 1 << 16});
    if (!info) return;
    const ImageWindow part =
        below(2) == 0 ? ImageWindow{0, 0, info->height, info->width} : window(info->height, info->width);
    for (const auto damage : {JpegDamage::fail, JpegDamage::strict, JpegDamage::recover}) {
      const auto options = with(damage, below(2) == 0 ? JpegCheck::part : JpegCheck::whole);
      const std::string expected = text_of(decode_part(file, part, options, "a.jpg", {.by_library = true}));
      ASSERT_EQ(text_of(decode_part(file, part, options, "a.jpg", {})) == expected, true) << expected.substr(0, 200);
    }
  }

  Random random_{17};
  BaselineDecoder decoder_;
  const std::unique_ptr<BaselineDecoder> other_ = std::make_unique<BaselineDecoder>();
};

TEST_F(Baseline, HasThePixelsOfTheLibrary) { EXPECT_EQ(count_differing(300, 110, nullptr), 0); }

TEST_F(Baseline, HasThePixelsOfTheLibraryOnEachTarget) {
  EXPECT_EQ(count_differing(40, 60, &scalar_sample_code()), 0);
  for (const auto& [target, code] : sample_code_targets()) EXPECT_EQ(count_differing(40, 60, &code), 0) << target;
}

// Also with an index, which one of them has now and then.
TEST_F(Baseline, TwoFilesAtOnceHaveThePixelsOfEachAlone) {
  int different = 0, given_up = 0, indexed = 0;
  for (int i = 0; i < 400; ++i) {
    Part first = some_part(90);
    const Part second = below(5) == 0 ? first : some_part(90);
    ScanIndex index;
    if (below(6) == 0 && decoder_.make_index(first.file, 2, index)) first.options.index = &index;
    indexed += first.options.index != nullptr ? 1 : 0;
    const auto pixels = decoded_at_once(first, second);
    ASSERT_TRUE(pixels[0] == decoded(first.file, first.options)) << i;
    ASSERT_TRUE(pixels[1] == decoded(second.file, second.options)) << i;
    different += pixels[0] != pixels[1] ? 1 : 0;
    given_up += pixels[0].empty() != pixels[1].empty() ? 1 : 0;
  }
  EXPECT_GT(different, 200) << "the control";
  EXPECT_GT(given_up, 50);
  EXPECT_GT(indexed, 10);
}

TEST_F(Baseline, AnotherRoundingIsFound) {
  SampleCode broken = scalar_sample_code();
  broken.enlarge = [](const uint8_t* near, const uint8_t* far, size_t size, uint8_t* to) {
    enlarge_from(near, far, 0, size, to);
    for (size_t i = 0; i < size; ++i) to[2 * i + 1] = static_cast<uint8_t>((4 * (3 * near[i] + far[i]) + 8) >> 4);
  };
  EXPECT_GT(count_differing(60, 60, &broken), 0);
  broken = scalar_sample_code();
  broken.invert = [](const int16_t* blocks, const Quantizer& quantizer, size_t count, uint8_t* to, size_t stride) {
    std::vector<int16_t> other(blocks, blocks + 64 * count);
    for (size_t i = 0; i < count; ++i) other[64 * i] = static_cast<int16_t>(other[64 * i] + 1);
    return scalar_sample_code().invert(other.data(), quantizer, count, to, stride);
  };
  EXPECT_GT(count_differing(60, 60, &broken), 0);
}

TEST_F(Baseline, LeavesOtherFilesToTheLibrary) {
  const auto is_own = [this](const JpegFile& file) { return !decoded(file, {.part = {0, 0, 20, 30}}).empty(); };
  const Tensor color = noisy_picture(20, 30, 3, 20, 1), inks = noisy_picture(20, 30, 4, 20, 1);
  EXPECT_TRUE(is_own(write_jpeg(color)));
  EXPECT_FALSE(is_own(write_jpeg(color, {.progressive = true})));
  EXPECT_FALSE(is_own(write_jpeg(color, {.across = 4, .down = 1})));
  EXPECT_FALSE(is_own(write_jpeg(color, {.across = 1, .down = 1, .space = JCS_RGB})));
  EXPECT_FALSE(is_own(write_jpeg(inks, {.across = 1, .down = 1, .space = JCS_CMYK})));
  JpegFile longer = write_jpeg(color);
  longer.insert(longer.end() - 2, 3, std::byte{0});
  EXPECT_FALSE(is_own(longer));
}

// libjpeg-turbo's transform of a block whose rows are all alike wraps where others saturate.
TEST_F(Baseline, LeavesValuesThatNoImageHasToTheLibrary) {
  Tensor stripes = Tensor::empty(u8, {16, 24, 1});
  for (int64_t i = 0; i < stripes.size(); ++i) stripes.mutable_data()[i] = std::byte(i % 3 == 0 ? 255 : 0);
  JpegFile file = write_jpeg(stripes, {.quality = 100});
  const ImageWindow part = {0, 0, 16, 24};
  EXPECT_FALSE(decoded(file, {.part = part, .channels = 1}).empty());
  constexpr std::array<std::byte, 5> kQuantizers = {std::byte{0xff}, std::byte{0xdb}, {}, std::byte{0x43}, {}};
  const auto table = std::ranges::search(file, kQuantizers).end();
  std::fill_n(table + 1, 63, std::byte{255});
  EXPECT_TRUE(decoded(file, {.part = part, .channels = 1}).empty());
  expect_the_same(file);
}

TEST_F(Baseline, ACutFileHasTheVerdictOfTheLibrary) {
  for (const int restart : {0, 3}) {
    const JpegFile file = write_jpeg(noisy_picture(40, 56, 3, 40, 2), {.restart = restart});
    for (size_t i = 0; i < 64; ++i) {
      JpegFile cut(file.begin(), file.begin() + static_cast<ptrdiff_t>(file.size() * i / 64));
      expect_the_same(cut);
      cut.insert(cut.end(), {std::byte{0xff}, std::byte{0xd9}});
      expect_the_same(cut);
    }
  }
}

TEST_F(Baseline, AFileWithAFlippedBitHasTheVerdictAndPixelsOfTheLibrary) {
  for (int i = 0; i < 1'000; ++i) {
    JpegFile flipped = file(40);
    flipped[static_cast<size_t>(below(static_cast<int64_t>(flipped.size())))] ^= static_cast<std::byte>(1 << below(8));
    expect_the_same(flipped);
  }
}

TEST_F(Baseline, BytesInTheDataHaveTheVerdictAndPixelsOfTheLibrary) {
  for (int i = 0; i < 300; ++i) {
    JpegFile changed = file(40);
    const auto at = static_cast<size_t>(below(static_cast<int64_t>(changed.size() / 2))) + changed.size() / 2;
    changed[at] = std::byte{0xff};
    if (at + 1 < changed.size())
      changed[at + 1] = static_cast<std::byte>(below(2) == 0 ? 0xd0 + below(10) : below(256));
    expect_the_same(changed);
  }
}

}  // namespace
}  // namespace headpond::jpeg_internal

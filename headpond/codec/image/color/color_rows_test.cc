// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>
#include <limits>

#include "headpond/codec/image/color/color_rows_internal.h"
#include "headpond/codec/image/color/color_test_internal.h"

namespace headpond::color_internal {
namespace {

using color_test::bytes_picture;
using color_test::unit_picture;
using Byte = std::vector<uint8_t>;

constexpr int32_t kFactors[] = {0, 1, 8192, 16384, 27853, 512 * 16384};
constexpr double kTurns[] = {-0.5, -0.123, 0, 0.1, 1.0 / 3, 0.5};
constexpr size_t kMostPixels = 70;

template <class Value>
std::vector<uint32_t> bits(const std::vector<Value>& values) {
  std::vector<uint32_t> all;
  for (const Value value : values) {
    if constexpr (std::is_same_v<Value, float>) {
      all.push_back(std::bit_cast<uint32_t>(value));
    } else {
      all.push_back(value);
    }
  }
  return all;
}

// Calls `loop(rows, in, out, pixels)` for each number of pixels, by the scalar twin, and compares each target with it.
template <class Loop>
bool twins_agree(Loop loop) {
  const Tensor picture = bytes_picture(1, static_cast<int64_t>(kMostPixels), 3);
  const uint8_t* const in = picture.as<uint8_t>().data();
  for (size_t count = 0; count <= kMostPixels; ++count) {
    Byte expected(3 * kMostPixels + 1, 99);
    loop(color_rows_scalar(), in, expected.data() + 1, count);
    for (const auto& other : color_row_targets()) {
      Byte got(3 * kMostPixels + 1, 99);
      loop(other.code, in, got.data() + 1, count);
      if (got != expected) return false;
    }
  }
  return true;
}

TEST(ColorRows, SaturationHasTheBytesOfItsTwinOnEveryTarget) {
  for (const int32_t factor : kFactors) {
    EXPECT_TRUE(twins_agree([&](const ColorRows& rows, const uint8_t* in, uint8_t* out, size_t count) {
      rows.saturation(in, out, count, factor);
    }));
  }
}

TEST(ColorRows, HueHasTheBytesOfItsTwinOnEveryTarget) {
  for (const double turn : kTurns) {
    EXPECT_TRUE(twins_agree([&](const ColorRows& rows, const uint8_t* in, uint8_t* out, size_t count) {
      rows.hue(in, out, count, hue_shift(turn));
    }));
  }
}

TEST(ColorRows, ControlAnotherFactorIsSeen) {
  if (color_row_targets().empty()) GTEST_SKIP() << "no vectors on this machine";
  EXPECT_FALSE(twins_agree([&](const ColorRows& rows, const uint8_t* in, uint8_t* out, size_t count) {
    rows.hue(in, out, count, hue_shift(&rows == &color_rows_scalar() ? 0.1 : 0.1001));
  }));
}

// Compares each target with the twin for each number of pixels, of which the last ends with `values`: loop(rows, in,
// out, pixels), apart and in place.
template <class T, class Loop>
void expect_twins_agree(const std::vector<T>& values, Loop loop) {
  const size_t most = values.size() / 3;
  for (size_t count = 0; count <= most; ++count) {
    const std::vector<T> in(values.end() - static_cast<std::ptrdiff_t>(3 * count), values.end());
    const auto apart = [&](const ColorRows& rows) {
      std::vector<T> out(3 * count + 2, T{99});
      loop(rows, in.data(), out.data() + 1, count);
      return bits(out);
    };
    const auto in_place = [&](const ColorRows& rows) {
      std::vector<T> out = in;
      loop(rows, out.data(), out.data(), count);
      return bits(out);
    };
    for (const auto& other : color_row_targets()) {
      ASSERT_EQ(apart(other.code), apart(color_rows_scalar())) << other.name << ", " << count << " pixels";
      ASSERT_EQ(in_place(other.code), in_place(color_rows_scalar())) << other.name << ", " << count << " pixels";
    }
  }
}

std::vector<float> odd_floats(size_t pixels) {
  auto values = color_test::values_of<float>(unit_picture(1, static_cast<int64_t>(pixels), 3));
  constexpr float kOdd[] = {
      std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -0.0F, 0, -3, 1e30F};
  for (size_t i = 0; i < values.size(); i += 5) values[i] = kOdd[i / 5 % 6];
  return values;
}

TEST(ColorRows, SaturationOfFloatsHasTheBytesOfItsTwinOnEveryTarget) {
  for (const float factor : {0.0F, 0.3F, 1.7F}) {
    expect_twins_agree(odd_floats(kMostPixels), [&](const ColorRows& rows, const float* in, float* out, size_t count) {
      rows.saturation_f32(in, out, count, factor, 1 - factor);
    });
  }
}

TEST(ColorRows, GreyHasTheBytesOfItsTwinOnEveryTarget) {
  for (const size_t channels : {size_t{1}, size_t{3}}) {
    expect_twins_agree(odd_floats(kMostPixels), [&](const ColorRows& rows, const float* in, float* out, size_t count) {
      rows.grey_f32(in, out, count, channels);
    });
    expect_twins_agree(color_test::values_of(bytes_picture(1, 2 * kMostPixels, 3)),
                       [&](const ColorRows& rows, const uint8_t* in, uint8_t* out, size_t count) {
                         rows.grey_u8(in, out, count, channels);
                       });
  }
}

TEST(ColorRows, GreyOfEachLevelIsThatLevel) {
  Byte in(3 * 256), expected(256);
  for (size_t i = 0; i < in.size(); ++i) in[i] = expected[i / 3] = static_cast<uint8_t>(i / 3);
  for (const auto& other : color_row_targets()) {
    Byte out(256);
    other.code.grey_u8(in.data(), out.data(), 256, 1);
    EXPECT_EQ(out, expected) << other.name;
  }
}

// Rows that are blurred across and down, by each target.
template <class In, class Middle, class Weight>
void expect_equal_blurs(const std::vector<In>& in, const std::vector<Weight>& weights,
                        void (*ColorRows::*across)(const In*, Middle*, size_t, const Weight*, size_t, size_t),
                        void (*ColorRows::*down)(const Middle* const*, In*, size_t, const Weight*, size_t)) {
  const size_t radius = weights.size() - 1;
  for (const size_t count : {size_t{0}, size_t{1}, size_t{15}, size_t{16}, size_t{17}, size_t{67}}) {
    const auto blurred = [&](const ColorRows& rows) {
      std::vector<Middle> middle(count + 5);
      (rows.*across)(in.data() + 3 * radius, middle.data(), count, weights.data(), radius, 3);
      std::vector<const Middle*> window(2 * radius + 1);
      for (size_t k = 0; k < window.size(); ++k) window[k] = middle.data() + k % 5;
      std::vector<In> out(count);
      (rows.*down)(window.data(), out.data(), count, weights.data(), radius);
      return std::pair(bits(middle), bits(out));
    };
    for (const auto& other : color_row_targets()) {
      EXPECT_EQ(blurred(other.code), blurred(color_rows_scalar())) << other.name << " " << count;
    }
  }
}

TEST(ColorRows, BlursHaveTheBytesOfTheirTwinsOnEveryTarget) {
  expect_equal_blurs<uint8_t, uint16_t, uint32_t>(color_test::values_of(bytes_picture(1, 100, 3)),
                                                  {65536 - 2 * (20000 + 9000 + 101), 20000, 9000, 101},
                                                  &ColorRows::across_u8, &ColorRows::down_u8);
  expect_equal_blurs<float, float, float>(color_test::values_of<float>(unit_picture(1, 100, 3)),
                                          {0.3F, 0.2F, 0.1F, 0.05F}, &ColorRows::across_f32, &ColorRows::down_f32);
}

TEST(ColorRows, ABlurOfTheLargestValueDoesNotOverflow) {
  const Byte white(600, 255);
  std::vector<uint32_t> weights(128, 257);
  weights[0] = 65536 - 2 * 127 * 257;
  for (const auto& other : color_row_targets()) {
    std::vector<uint16_t> middle(64);
    other.code.across_u8(white.data() + 127, middle.data(), middle.size(), weights.data(), 127, 1);
    ASSERT_EQ(middle, std::vector<uint16_t>(64, 255 * 256)) << other.name;
    const std::vector<const uint16_t*> window(255, middle.data());
    Byte out(64);
    other.code.down_u8(window.data(), out.data(), out.size(), weights.data(), 127);
    ASSERT_EQ(out, Byte(64, 255)) << other.name;
  }
}

TEST(ColorRows, TheBestTargetIsUsed) {
  const auto& targets = color_row_targets();
  EXPECT_EQ(color_rows().hue, targets.empty() ? color_rows_scalar().hue : targets.front().code.hue);
}

}  // namespace
}  // namespace headpond::color_internal

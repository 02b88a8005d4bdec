// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "headpond/base/random.h"
#include "headpond/codec/image/color/level_rows_internal.h"

namespace headpond::color_internal {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN(), kMost = std::numeric_limits<float>::infinity();

template <class T>
class Picture {
 public:
  // Noise of 5 to 204, and about every ninth value is one of `odd`.
  Picture(size_t pixels, size_t channels, const std::vector<T>& odd, uint64_t seed) : channels_(channels) {
    Random random(seed);
    values_.resize(pixels * channels);
    for (size_t i = 0; i < values_.size(); ++i) {
      values_[i] = static_cast<T>(random.below(200) + 5);
      if (!odd.empty() && random.below(9) == 0) values_[i] = odd[random.below(odd.size())];
    }
  }

  std::vector<uint32_t> ranges(const LevelRows& rows) const {
    std::vector<uint32_t> all;
    for (const ValueRange<T>& range : found(rows)) {
      all.push_back(bits(range.low));
      all.push_back(bits(range.high));
    }
    return all;
  }
  std::vector<uint32_t> stretched(const LevelRows& rows, bool is_in_place) const {
    std::vector<float> out(values_.size() + 2, 99), memory = values_;
    float* const to = is_in_place ? memory.data() : out.data() + 1;
    rows.stretch_f32(memory.data(), to, values_.size(), channels_, found(level_rows_scalar()).data());
    std::vector<uint32_t> all;
    for (const float value : is_in_place ? memory : out) all.push_back(bits(value));
    return all;
  }

 private:
  static uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }
  static uint32_t bits(uint8_t value) { return value; }

  std::vector<ValueRange<T>> found(const LevelRows& rows) const {
    std::vector<ValueRange<T>> made(channels_);
    if constexpr (sizeof(T) == 1) {
      rows.range_u8(values_.data(), values_.size(), channels_, made.data());
    } else {
      rows.range_f32(values_.data(), values_.size(), channels_, made.data());
    }
    return made;
  }

  const size_t channels_;
  std::vector<T> values_;
};

TEST(LevelRows, RangesOfBytesAreThoseOfTheTwinOnEveryTarget) {
  for (size_t channels = 1; channels <= kMostChannels; ++channels) {
    for (size_t pixels = 1; pixels <= 200; ++pixels) {
      const std::vector<uint8_t> none, ends = {0, 255};
      const Picture<uint8_t> picture(pixels, channels, pixels % 2 == 0 ? ends : none, pixels);
      for (const auto& target : level_row_targets()) {
        ASSERT_EQ(picture.ranges(target.code), picture.ranges(level_rows_scalar())) << target.name << ", " << pixels;
      }
    }
  }
}

TEST(LevelRows, FloatsHaveTheBytesOfTheTwinOnEveryTarget) {
  const std::vector<std::vector<float>> odd = {{}, {0.0F, -0.0F}, {-0.0F, -3}, {kNone}, {kMost, -kMost, kNone, -0.0F}};
  for (size_t channels = 1; channels <= kMostChannels; ++channels) {
    for (size_t pixels = 1; pixels <= 100; ++pixels) {
      const Picture<float> picture(pixels, channels, odd[pixels % odd.size()], pixels);
      const LevelRows& twin = level_rows_scalar();
      for (const auto& target : level_row_targets()) {
        ASSERT_EQ(picture.ranges(target.code), picture.ranges(twin)) << target.name << ", " << pixels;
        ASSERT_EQ(picture.stretched(target.code, false), picture.stretched(twin, false))
            << target.name << ", " << pixels;
        ASSERT_EQ(picture.stretched(target.code, true), picture.stretched(twin, true)) << target.name << ", " << pixels;
      }
    }
  }
}

TEST(LevelRows, OfTwoZerosTheFirstIsTheRange) {
  std::vector<float> values(160, 1);
  values[70] = 0;
  values[90] = -0.0F;
  for (const auto& target : level_row_targets()) {
    ValueRange<float> range;
    target.code.range_f32(values.data(), values.size(), 1, &range);
    EXPECT_FALSE(std::signbit(range.low)) << target.name;
    std::swap(values[70], values[90]);
    target.code.range_f32(values.data(), values.size(), 1, &range);
    EXPECT_TRUE(std::signbit(range.low)) << target.name;
    std::swap(values[70], values[90]);
  }
}

TEST(LevelRows, TheBestTargetIsUsed) {
  const auto& targets = level_row_targets();
  EXPECT_EQ(level_rows().stretch_f32,
            targets.empty() ? level_rows_scalar().stretch_f32 : targets.front().code.stretch_f32);
}

}  // namespace
}  // namespace headpond::color_internal

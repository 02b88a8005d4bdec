// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/math/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace headpond {
namespace {

TEST(Half, EachF16ComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = from_f16(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(from_f16(to_f16(value)))) << bits;
    } else {
      EXPECT_EQ(to_f16(value), half) << bits;
    }
  }
}

TEST(Half, EachBf16ComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = from_bf16(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(from_bf16(to_bf16(value)))) << bits;
    } else {
      EXPECT_EQ(to_bf16(value), half) << bits;
    }
  }
}

// Between each two neighbours: just below the middle goes down, just above goes up, the middle to the even one.
TEST(Half, F16RoundsToTheNearestAndTiesToEven) {
  for (uint16_t low = 0; low < 0x7bff; ++low) {
    const auto high = static_cast<uint16_t>(low + 1);
    const float middle = (from_f16(low) + from_f16(high)) / 2;  // Exact in float.
    const uint16_t even = (low & 1) == 0 ? low : high;
    EXPECT_EQ(to_f16(middle), even) << low;
    EXPECT_EQ(to_f16(std::nextafter(middle, 0.F)), low) << low;
    EXPECT_EQ(to_f16(std::nextafter(middle, 1e9F)), high) << low;
    EXPECT_EQ(to_f16(-middle), even | 0x8000) << low;
  }
}

TEST(Half, KnowsTheLargestNumbersAndInfinity) {
  EXPECT_EQ(to_f16(65504.F), 0x7bff);
  EXPECT_EQ(to_f16(std::nextafter(65520.F, 0.F)), 0x7bff);
  EXPECT_EQ(to_f16(65520.F), 0x7c00);
  EXPECT_EQ(to_f16(1e30F), 0x7c00);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::infinity()), 0x7f80);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(to_bf16(1.00390625F), 0x3f80);  // 1 + 2^-8, a tie.
  EXPECT_EQ(to_bf16(1.01171875F), 0x3f82);  // 1 + 3 x 2^-8, a tie.
}

}  // namespace
}  // namespace headpond

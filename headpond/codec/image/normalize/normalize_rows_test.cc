// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/codec/image/normalize/normalize_rows_internal.h"

namespace headpond::image_internal {
namespace {

using NormalizedBytes = std::vector<std::byte>;

NormalizeLines some_lines(int channels) {
  NormalizeLines lines;
  for (size_t i = 0; i < NormalizeLines::kSize; ++i) {
    const auto c = static_cast<float>(i % static_cast<size_t>(channels));
    lines.scale[i] = (1 + c / 7) / 57.1F;
    lines.bias[i] = -2.1F + c / 3;
  }
  return lines;
}

template <class T, class Row>
NormalizedBytes normalized(const std::vector<T>& from, NormalizeRow row, Row run) {
  const int64_t values = row.channels * (row.width + 3);
  NormalizedBytes to(static_cast<size_t>(values) * item_size(row.dtype), std::byte{0x5a});
  run(from.data(), row, some_lines(row.channels), to.data());
  return to;
}

// Rows of all bytes, and of floats of any bits, into planes and beside each other.
template <class T, class Pick>
void expect_equal_targets(const std::vector<T>& values, const Pick& pick) {
  for (const int64_t width : {1, 3, 4, 7, 8, 15, 16, 17, 31, 48, 85, 256, 600, 1025}) {
    for (int channels = 1; channels <= 4; ++channels) {
      for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        for (const int64_t plane : {int64_t{0}, width + 3}) {
          const int64_t after = width % 2 == 0 ? 700 : 0;
          const std::vector<T> from(values.begin(), values.begin() + width * channels);
          const NormalizeRow row = {width, channels, dtype, plane, after};
          const NormalizedBytes expected = normalized(from, row, pick(normalize_rows_scalar()));
          for (const auto& named : normalize_targets()) {
            ASSERT_EQ(normalized(from, row, pick(named.code)), expected)
                << named.name << ", " << width << " x " << channels << " as " << name(dtype);
          }
        }
      }
    }
  }
}

TEST(NormalizeRows, OfU8AreThoseOfTheirTwin) {
  std::vector<uint8_t> values(4100);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i * 7 + i / 256);
  expect_equal_targets(values, [](const NormalizeRows& rows) { return rows.of_u8; });
}

TEST(NormalizeRows, OfFloatsAreThoseOfTheirTwin) {
  Random random(3);
  std::vector<float> values(4100);
  for (float& value : values) {
    // The result is small, subnormal, large, infinite; never a NaN, whose bits no rule of arithmetic fixes.
    value = std::ldexp(static_cast<float>(random.below(2000)) - 1000, static_cast<int>(random.below(60)) - 40);
  }
  values[5] = std::numeric_limits<float>::infinity();
  values[6] = -std::numeric_limits<float>::infinity();
  expect_equal_targets(values, [](const NormalizeRows& rows) { return rows.of_f32; });
}

// A fused multiply-add rounds once: that many bytes tell it from the rule.
TEST(NormalizeRows, AFusedMultiplyAddWouldBeSeen) {
  const NormalizeLines lines = some_lines(1);
  int different = 0;
  for (int value = 0; value < 256; ++value) {
    const auto pixel = static_cast<float>(value);
    const float rounded_twice = pixel * lines.scale[0] + lines.bias[0];
    different += rounded_twice == std::fma(pixel, lines.scale[0], lines.bias[0]) ? 0 : 1;
  }
  EXPECT_GT(different, 10);
}

}  // namespace
}  // namespace headpond::image_internal

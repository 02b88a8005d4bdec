// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "headpond/codec/sound/wav_lanes_internal.h"

namespace headpond::wav_internal {
namespace {

// The converted values of a file of `count` samples that begins at an odd address, and one value more, which must stay.
std::vector<float> converted_by(ToFloat convert, size_t count) {
  std::vector<std::byte> file(2 * count + 1);
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<uint16_t>(i * 40503 + 32768);
    std::memcpy(&file[2 * i + 1], &value, sizeof value);
  }
  std::vector<float> values(count + 1, 7.0F);
  convert(file.data() + 1, count, values.data());
  return values;
}

TEST(WavLanes, ValuesAreThoseOfTheirTwin) {
  for (const size_t count : {0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 65536}) {
    const std::vector<float> expected = converted_by(s16_to_float_scalar, count);
    EXPECT_EQ(expected.back(), 7.0F) << "nothing is written beyond the last value";
    EXPECT_EQ(converted_by(s16_to_float, count), expected);
    for (const auto& named : to_float_targets()) {
      EXPECT_EQ(converted_by(named.code, count), expected) << named.name << ", " << count;
    }
  }
}

TEST(WavLanes, TheEndsOfTheScaleAreExact) {
  const std::vector<float> values = converted_by(s16_to_float, 65536);
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), -1.0F);
  EXPECT_EQ(*std::max_element(values.begin(), values.end() - 1), 32767 / 32768.0F);
  EXPECT_EQ(std::count(values.begin(), values.end(), 0x1p-15F), 1);
}

}  // namespace
}  // namespace headpond::wav_internal

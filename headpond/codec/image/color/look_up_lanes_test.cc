// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "headpond/base/random.h"
#include "headpond/codec/image/color/look_up_internal.h"

namespace headpond::color_internal {
namespace {

TEST(LookUp, HasTheBytesOfItsTwinOnEveryTarget) {
  Random random(4);
  std::array<uint8_t, 256> table;
  for (uint8_t& byte : table) byte = static_cast<uint8_t>(random.u32());
  for (size_t count = 0; count <= 600; ++count) {
    const size_t begin = count % 70;
    std::vector<uint8_t> in(begin + count);  // Ends with the last value: no byte after it may be read.
    std::iota(in.begin(), in.end(), uint8_t{0});
    std::vector<uint8_t> expected(800, 99);
    look_up_scalar().all(in.data() + begin, expected.data() + 1, count, table.data());
    for (const auto& target : look_up_targets()) {
      std::vector<uint8_t> got(expected.size(), 99);
      target.code.all(in.data() + begin, got.data() + 1, count, table.data());
      ASSERT_EQ(got, expected) << target.name << ", " << count << " values";
    }
  }
}

TEST(LookUp, ATableForEachChannelHasTheBytesOfItsTwinOnEveryTarget) {
  Random random(4);
  std::array<uint8_t, 1024> tables;
  for (uint8_t& byte : tables) byte = static_cast<uint8_t>(random.u32());
  for (size_t channels = 1; channels <= 4; ++channels) {
    for (size_t pixels = 0; pixels <= 200; ++pixels) {
      std::vector<uint8_t> in(pixels * channels);
      for (uint8_t& byte : in) byte = static_cast<uint8_t>(random.u32());
      std::vector<uint8_t> expected(in.size() + 2, 99);
      for (size_t i = 0; i < in.size(); ++i) expected[i + 1] = tables[i % channels * 256 + in[i]];
      std::vector<uint8_t> twins(expected.size(), 99);
      look_up_scalar().by_channel(in.data(), twins.data() + 1, pixels, channels, tables.data());
      ASSERT_EQ(twins, expected);
      for (const auto& target : look_up_targets()) {
        std::vector<uint8_t> got(expected.size(), 99);
        target.code.by_channel(in.data(), got.data() + 1, pixels, channels, tables.data());
        ASSERT_EQ(got, expected) << target.name << ", " << pixels << " pixels of " << channels;
      }
    }
  }
}

TEST(LookUp, MayReplaceItsValues) {
  std::array<uint8_t, 256> table;
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint8_t>(255 - i);
  std::vector<uint8_t> values(300), expected(300);
  std::iota(values.begin(), values.end(), uint8_t{0});
  look_up_scalar().all(values.data(), expected.data(), values.size(), table.data());
  best_look_up().all(values.data(), values.data(), values.size(), table.data());
  EXPECT_EQ(values, expected);
}

}  // namespace
}  // namespace headpond::color_internal
